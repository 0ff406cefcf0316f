//! The plugin's report, as text: the counts of each window, and at the end the call tree.

use alloc::string::String;
use core::fmt::Write;

use crate::follower::Follower;
use crate::stacks::call_tree::Label;

impl Follower {
    /// A clock reading ends a window: its counts are written, and counting ends.
    ///
    /// Of several processors, each has a line below that of the window.
    pub(super) fn end_window(&mut self) {
        let reader = self.on.number;
        let mut lines = String::new();
        let mut total = 0;
        for number in 0..self.walks.len() {
            self.look_at(number);
            if number != reader {
                self.count_last();
            }
            self.on.graph.flush(&mut self.frames);
            total += self.on.walk.total.get();
            // Writing to a string can't fail.
            if self.walks.len() > 1 {
                let _ = write!(lines, "\nprocessor {number}");
            }
            for (node, count) in self.frames.whole.take() {
                let _ = write!(lines, " {node}:{count}");
            }
            self.on.forget(false);
        }
        self.look_at(reader);
        let _ = writeln!(self.window_lines, "stretch {total} {}{lines}", self.idle);
        if let Some(events) = &mut self.scheduler_events {
            events.write(self.names.as_ref(), &mut self.window_lines);
        }
        self.idle = 0;
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
