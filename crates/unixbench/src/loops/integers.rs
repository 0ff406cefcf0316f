//! Work on integers, records and strings, of the kind that Dhrystone does: assignments, records
//! copied and followed through pointers, strings of thirty characters copied and compared,
//! decisions, short procedures, arrays of one and two dimensions; no floating point, no system
//! calls.
//!
//! Neither the work nor its loop is Dhrystone's: the rates can be compared between systems, but not
//! with rates of the original.

use std::hint::black_box;

use crate::fault::{Result, check};
use crate::test_loop::TestLoop;

const LENGTH: usize = 30;
const ROWS: usize = 50;
const RECORDS: usize = 4;

type Text = [u8; LENGTH];

const OPENING: &Text = b"LEDGER ENTRY, FIRST OF A  PAIR";
const CLOSING: &Text = b"LEDGER ENTRY, SECOND OF A PAIR";

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Booked,
    Closed,
}

/// A record as in a business program; `next` is the index of another.
#[derive(Clone, Copy, Debug)]
struct Record {
    next: usize,
    kind: Kind,
    amount: i32,
    balance: i32,
    text: Text,
}

/// The state that the loops modify.
pub struct Ledger {
    records: [Record; RECORDS],
    row: [i32; ROWS],
    table: Box<[[i32; ROWS]; ROWS]>,
    matches: u64,
    sum: i64,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        let empty = Record { next: 0, kind: Kind::Closed, amount: 0, balance: 0, text: *OPENING };
        let mut records = [empty; RECORDS];
        for (place, record) in records.iter_mut().enumerate() {
            record.next = (place + 1) % RECORDS;
        }
        Self { records, row: [0; ROWS], table: Box::new([[0; ROWS]; ROWS]), matches: 0, sum: 0 }
    }
}

impl TestLoop for Ledger {
    fn once(&mut self) -> Result<()> {
        let first = black_box(0_usize);
        let mut left = *black_box(OPENING);
        let right = *black_box(CLOSING);
        let amount = enter(&mut self.records, first, 7);
        let mut units = black_box(2);
        let mut total = 0;
        while units < amount {
            total = 5 * units - amount;
            units = plus(units, 3);
        }
        spread(&mut self.row, &mut self.table, units, total);
        if !is_later(&left, &right) {
            left = right;
        }
        if left == right {
            self.matches += 1;
        }
        let mut letter = b'A';
        while letter <= left[4] {
            if kind_of(letter, b'E') == Kind::Booked {
                self.records[first].kind = Kind::Booked;
                total = plus(total, units);
            }
            letter += 1;
        }
        total *= units;
        units = total / amount;
        total = 7 * (total - units) - amount;
        self.sum += i64::from(black_box(total));
        Ok(())
    }

    fn finish(self, loops: u64) -> Result<()> {
        let signed = i64::try_from(loops).unwrap_or(i64::MAX);
        check(self.sum == AFTER_ONE_LOOP * signed, || format!("{} is not the sum", self.sum))?;
        check(self.matches == loops, || format!("{} strings were equal", self.matches))?;
        let counted = i64::from(self.table[8][7]); // 32 bits, which wrap around
        check((counted - signed) % (1 << 32) == 0, || format!("{counted} loops in the table"))?;
        check(self.records[1].text == *CLOSING, || "the record's text is another".into())?;
        check(self.records[0].kind == Kind::Booked, || "the record's kind is another".into())
    }
}

/// The value of `total` at a loop's end, computed by hand from the loop's text:
/// amount 7; units 2, 5, 8; total 5 * 5 - 7 = 18, plus 8 for the letter E: 26; times 8: 208;
/// units 208 / 7 = 29; total 7 * (208 - 29) - 7.
const AFTER_ONE_LOOP: i64 = 1246;

/// Copies a record to the next one and changes both.
#[inline(never)]
fn enter(records: &mut [Record; RECORDS], place: usize, amount: i32) -> i32 {
    records[place].amount = amount;
    let next = records[place].next;
    let behind = records[next].next;
    records[next] = records[place];
    records[next].next = behind;
    records[next].text = *black_box(CLOSING);
    records[next].kind = following(records[place].kind);
    records[next].balance = plus(records[next].amount, records[place].balance);
    if records[next].kind == Kind::Closed {
        records[next].amount = 6;
    }
    black_box(&*records)[place].amount
}

#[inline(never)]
fn following(kind: Kind) -> Kind {
    match black_box(kind) {
        Kind::Open => Kind::Booked,
        Kind::Booked => Kind::Closed,
        Kind::Closed => Kind::Open,
    }
}

#[inline(never)]
fn plus(left: i32, right: i32) -> i32 {
    black_box(left).wrapping_add(right)
}

/// Writes to an array of one dimension and to one of two.
#[inline(never)]
fn spread(row: &mut [i32; ROWS], table: &mut [[i32; ROWS]; ROWS], place: i32, value: i32) {
    let place = usize::try_from(place).unwrap_or(0) % (ROWS - 20);
    row[place] = value;
    row[place + 1] = row[place];
    row[place + 20] = i32::try_from(place).unwrap_or(0);
    table[place][place..place + 2].copy_from_slice(&row[place..place + 2]);
    table[place][place - 1] = table[place][place - 1].wrapping_add(1);
    table[place + 20][place] = row[place];
    black_box(&table);
}

#[inline(never)]
fn is_later(left: &Text, right: &Text) -> bool {
    let mut place = 2;
    while place < 3 {
        if kind_of(left[place], right[place + 1]) == Kind::Open {
            place += 3;
        } else {
            place += 1;
        }
    }
    black_box(left) > black_box(right)
}

#[inline(never)]
fn kind_of(left: u8, right: u8) -> Kind {
    let (left, right) = (black_box(left), black_box(right));
    if left == right { Kind::Booked } else { Kind::Open }
}

#[cfg(test)]
mod tests {
    use super::Ledger;
    use crate::test_loop::TestLoop;

    fn after(loops: u64) -> Ledger {
        let mut ledger = Ledger::new();
        for _ in 0..loops {
            ledger.once().unwrap();
        }
        ledger
    }

    #[test]
    fn loops_come_to_what_was_worked_out_by_hand() {
        for loops in [1, 2, 100] {
            assert_eq!(after(loops).finish(loops), Ok(()));
        }
    }

    #[test]
    fn a_wrong_sum_string_count_or_record_is_noticed() {
        assert!(after(3).finish(2).is_err());
        let mut ledger = after(3);
        ledger.sum += 1;
        assert!(ledger.finish(3).is_err());
        let mut ledger = after(3);
        ledger.records[1].text[0] = b'?';
        assert!(ledger.finish(3).is_err());
    }
}
