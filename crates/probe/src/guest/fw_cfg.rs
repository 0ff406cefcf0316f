//! QEMU's firmware configuration (`fw_cfg`): named files that the host passes to the guest.
//!
//! An item is selected by its number and then read byte by byte. Item 0 is a signature. Item 0x19
//! is a directory: a count, then for each file its size, item number, two reserved bytes and name.
//! Numbers are big-endian.

const SIGNATURE: u16 = 0x00;
const DIRECTORY: u16 = 0x19;
const NAME_LENGTH: usize = 56;

/// The device's two ports.
pub trait Ports {
    /// Goes to the start of an item.
    fn select(&mut self, item: u16);
    /// Reads the selected item's next byte.
    fn next_byte(&mut self) -> u8;
}

/// The whole content of the file called `name`, or `None` if there is no such file, or no QEMU.
pub fn read_file(ports: &mut impl Ports, name: &str) -> Option<Vec<u8>> {
    ports.select(SIGNATURE);
    if take(ports) != *b"QEMU" {
        return None;
    }
    let (item, size) = find(ports, name)?;
    ports.select(item);
    Some((0..size).map(|_| ports.next_byte()).collect())
}

/// The item number and size of the file called `name`.
fn find(ports: &mut impl Ports, name: &str) -> Option<(u16, u32)> {
    ports.select(DIRECTORY);
    let count = u32::from_be_bytes(take(ports));
    for _ in 0..count {
        let size = u32::from_be_bytes(take(ports));
        let item = u16::from_be_bytes(take(ports));
        let _reserved: [u8; 2] = take(ports);
        let padded: [u8; NAME_LENGTH] = take(ports);
        if padded.split(|&byte| byte == 0).next() == Some(name.as_bytes()) {
            return Some((item, size));
        }
    }
    None
}

fn take<const N: usize>(ports: &mut impl Ports) -> [u8; N] {
    std::array::from_fn(|_| ports.next_byte())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{DIRECTORY, NAME_LENGTH, Ports, SIGNATURE, read_file};

    /// Items by number. Like the device, it reads as 0 beyond an item's end.
    #[derive(Default)]
    struct Fake {
        items: BTreeMap<u16, Vec<u8>>,
        item: u16,
        offset: usize,
    }

    impl Ports for Fake {
        fn select(&mut self, item: u16) {
            (self.item, self.offset) = (item, 0);
        }

        fn next_byte(&mut self) -> u8 {
            let byte = self.items.get(&self.item).and_then(|item| item.get(self.offset));
            self.offset += 1;
            byte.copied().unwrap_or(0)
        }
    }

    fn device(files: &[(&str, &[u8])]) -> Fake {
        let mut fake = Fake::default();
        fake.items.insert(SIGNATURE, b"QEMU".to_vec());
        let mut directory = u32::try_from(files.len()).expect("few").to_be_bytes().to_vec();
        for (item, (name, content)) in (0x20_u16..).zip(files) {
            directory.extend(u32::try_from(content.len()).expect("small").to_be_bytes());
            directory.extend(item.to_be_bytes());
            directory.extend([0; 2]);
            directory.extend(name.bytes().chain(std::iter::repeat(0)).take(NAME_LENGTH));
            fake.items.insert(item, content.to_vec());
        }
        fake.items.insert(DIRECTORY, directory);
        fake
    }

    #[test]
    fn a_file_is_read_whole_by_its_full_name() {
        let mut fake = device(&[
            ("opt/job", b"no"),
            ("opt/hardcost/job", b"{}\n\0x"),
            ("opt/hardcost/job2", b""),
        ]);
        assert_eq!(read_file(&mut fake, "opt/hardcost/job").as_deref(), Some(&b"{}\n\0x"[..]));
        assert_eq!(read_file(&mut fake, "opt/hardcost/job2").as_deref(), Some(&b""[..]));
        assert_eq!(read_file(&mut fake, "opt/hardcost"), None);
    }

    #[test]
    fn a_machine_without_the_device_has_no_files() {
        assert_eq!(read_file(&mut Fake::default(), "opt/hardcost/job"), None);
    }
}
