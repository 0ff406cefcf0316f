//! The probe, with the programs that belong beside it.

use std::path::Path;
use std::process::Command;
use std::sync::Once;
use std::{env, fs};

const PROBE: &str = env!("CARGO_BIN_EXE_hardcost-probe");
static BUILT: Once = Once::new();

/// The probe. What it needs beside it is built as it is for guests, which takes a moment once.
pub fn probe() -> Command {
    BUILT.call_once(|| {
        let folder = Path::new(PROBE).parent().expect("a folder");
        let target = folder.join("alone");
        for name in ["hardcost-measured", "hardcost-noop"] {
            let built = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--release", "--locked", "--offline"])
                .args(["--features", "alone", "--package", name, "--target-dir"])
                .arg(&target)
                .env("RUSTFLAGS", "-C target-feature=+crt-static -C relocation-model=static")
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .env_remove("CARGO_BUILD_TARGET")
                .status()
                .expect("cargo starts");
            assert!(built.success(), "{name} is not built");
            // Under its name at once: another test may be running what was there.
            let fresh = folder.join(format!("{name}.{}", std::process::id()));
            let program = find(&target, name).expect("what was built");
            fs::copy(program, &fresh).expect("a copy");
            fs::rename(fresh, folder.join(name)).expect("its place");
        }
    });
    Command::new(PROBE)
}

/// The program, whether or not Cargo's configuration names a target.
fn find(target: &Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = fs::read_dir(target).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let folders = entries.flat_map(|path| [path.join("release"), path]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}
