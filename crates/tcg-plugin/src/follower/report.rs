//! The plugin's report, as text: the counts of each window, and at the end the call tree.

use alloc::string::String;
use core::fmt::Write;

use crate::follower::Follower;
use crate::stacks::call_tree::Label;

impl Follower {
    /// A clock reading ends a window: its counts are written, and counting ends.
    pub(super) fn end_window(&mut self) {
        self.graph.flush(&mut self.frames);
        let counts = self.frames.whole.take();
        // Writing to a string can't fail.
        let _ = write!(self.window_lines, "stretch {} {}", self.walk.total.get(), self.idle);
        for (node, count) in counts {
            let _ = write!(self.window_lines, " {node}:{count}");
        }
        self.window_lines.push('\n');
        if let Some(events) = &mut self.scheduler_events {
            events.write(self.names.as_ref(), &mut self.window_lines);
        }
        self.walk.total.set(0);
        self.idle = 0;
        self.at = None;
        self.graph.set_current(None);
    }

    /// The whole report, one item a line: the nodes of the call tree, and each window's counts.
    pub fn report(&self) -> String {
        let mut report = String::from("profile 1\n");
        let name = |number: u32| self.symbols.names.get(number as usize);
        for (parent, label) in self.frames.whole.nodes() {
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
        report += &self.window_lines;
        report += "end\n";
        report
    }
}
