//! Processes that constantly make random calls, some of them recorded, most of them not.

use crate::child::{become_user, pause, spawn};
use crate::kernel::io_uring::Ring;
use crate::kernel::rule::NUMBERS;
use crate::kernel::syscalls::{CPath, call, call32, execute, n32, n64, open_close};
use crate::random::Random;
use crate::random_rules::{KEPT, REPLACED};
use crate::shared_memory::{Count, Shared};

/// Their user ids; random rules record calls of 3000 and above.
const USERS: [u32; 3] = [2000, 2000, 3000];
const CREATE: usize = 0o1101;

/// Starts all of them; they end with the round.
pub fn start(shared: &'static Shared, seed: u64, round: u64) -> Vec<i32> {
    let started = USERS.iter().enumerate();
    started
        .map(|(role, &user)| {
            spawn(move || {
                become_user(user, user);
                make_calls(shared, role, Random::new(seed, 100 + role as u64, round));
            })
        })
        .collect()
}

fn make_calls(shared: &Shared, role: usize, mut random: Random) {
    let places: Vec<CPath> = paths().iter().map(|path| CPath::new(path)).collect();
    let own = [
        CPath::new(&format!("/storm/w{role}/of-{role}")),
        CPath::new(&format!("/storm/of-{role}")),
    ];
    let program = CPath::new("/storm/noop");
    let mut ring = Ring::new().ok();
    while shared.is_running() {
        for _ in 0..20 {
            make_call(shared, &mut random, &places, &own);
        }
        shared.add(Count::Calls, 20);
        if random.chance(3) {
            execute(&program, 0);
            shared.count(Count::Programs);
        }
        if let Some(ring) = ring.as_mut().filter(|_| random.chance(10)) {
            let place = &places[random.below(KEPT) as usize];
            if ring.open(place).is_ok() {
                shared.count(Count::Uring);
            }
        }
        // A recorded process yields to the audit daemon.
        if role == USERS.len() - 1 {
            pause(2);
        }
    }
}

/// Files and directories inside and outside of watched ones, some of which come and go.
fn paths() -> Vec<String> {
    let mut places: Vec<String> = (0..KEPT).map(|at| format!("/storm/w{at}/f")).collect();
    places.extend((0..REPLACED).map(|at| format!("/storm/p{at}/f")));
    for remover in 0..2 {
        places.extend((0..4).map(|at| format!("/storm/e{remover}/d{at}/f")));
        places.extend(["m", "x", "v"].map(|kind| format!("/storm/{kind}{remover}/f")));
        places.push(format!("/storm/e{remover}/d0"));
    }
    places.extend(["/proc/self/stat", "/storm/f", "/storm/q0/f", "/init"].map(str::to_owned));
    places
}

fn make_call(shared: &Shared, random: &mut Random, places: &[CPath], own: &[CPath; 2]) {
    let place = &places[random.below(u32::try_from(places.len()).unwrap_or(1)) as usize];
    match random.below(14) {
        0..=1 => drop(call(n64::GETPPID, [0; 3], 0)),
        2 => drop(call(n64::READ, [usize::MAX, 0, 0], 0)),
        3..=5 => drop(open_close(place, 0, 0)),
        6 => drop(call(n64::ACCESS, [place.address(), 4, 0], 0)),
        7 => drop(call(n64::CHMOD, [place.address(), 0o777, 0], 0)),
        8 => {
            open_close(&own[0], CREATE, 0);
            call(n64::RENAME, [own[0].address(), own[1].address(), 0], 0);
            call(n64::UNLINK, [own[1].address(), 0, 0], 0);
        }
        9 => {
            call(n64::MKDIR, [own[0].address(), 0o700, 0], 0);
            call(n64::RMDIR, [own[0].address(), 0, 0], 0);
        }
        10..=11 => {
            let number = random.pick(&[n32::GETPPID, n32::CLOSE, n32::FCHMOD, 600, 2047, 3000]);
            call32(number, u32::MAX, 0);
            shared.count(Count::Calls32);
        }
        _ => {
            let x32 = i64::from(random.below(500)) | 0x4000_0000;
            let odd = [600, 2000, 2031, 2032, 2047, 2048, 5000, x32, i64::from(NUMBERS), -1];
            call(random.pick(&odd), [usize::MAX, 0, 0], 0);
            shared.count(Count::Beyond);
        }
    }
}
