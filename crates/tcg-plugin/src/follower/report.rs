//! What was seen, as text: each stretch when it ends, and the tree of stacks at last.

use alloc::string::String;
use core::fmt::Write;

use super::Follower;
use crate::tree::Label;

impl Follower {
    /// A reading of the clock ends a stretch, and counting.
    pub(super) fn end_stretch(&mut self) {
        self.states.settle(&mut self.frames);
        let counts = self.frames.whole.take();
        // Writing to a string can't fail.
        let _ = write!(self.stretches, "stretch {} {}", self.walk.total.get(), self.idle);
        for (node, count) in counts {
            let _ = write!(self.stretches, " {node}:{count}");
        }
        self.stretches.push('\n');
        if let Some(schedule) = &mut self.schedule {
            schedule.write(self.names.as_ref(), &mut self.stretches);
        }
        self.walk.total.set(0);
        self.idle = 0;
        self.at = None;
        self.states.stand(None);
    }

    /// All that was seen, one thing a line: places of the tree, and what each stretch executed there.
    pub fn report(&self) -> String {
        let mut report = String::from("profile 1\n");
        let name = |number: u32| self.symbols.names.get(number as usize);
        for (parent, label) in self.frames.whole.places() {
            let (kind, name) = match label {
                Label::Process(number) => {
                    ("process", self.frames.tree.processes.get(number as usize))
                }
                Label::Kernel(number) => ("kernel", name(number)),
                Label::User(number) => ("user", name(number)),
                Label::Vdso => ("user", None),
            };
            let name = name.map_or("[vdso]", |name| name);
            let is_plain =
                |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@:/ ()[]".contains(&byte);
            let _ = if name.bytes().all(is_plain) {
                writeln!(report, "place {parent} {kind} {name}")
            } else {
                writeln!(report, "place {parent} {kind} {}", name.escape_debug())
            };
        }
        report += &self.stretches;
        report += "end\n";
        report
    }
}
