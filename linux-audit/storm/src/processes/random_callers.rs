//! Processes that constantly make calls, some of them recorded, most of them not.

use crate::calls::{Place, call, call32, execute, n32, n64, open_close};
use crate::random::Random;
use crate::random_rules::{KEPT, REPLACED};
use crate::rule::NUMBERS;
use crate::shared::{Count, Shared, become_user, pause, spawn};
use crate::uring::Ring;

/// Their user ids; the storm's rules record calls of 3000 and above.
const USERS: [u32; 3] = [2000, 2000, 3000];
const CREATE: usize = 0o1101;

/// Starts all of them; they end when the storm does.
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
    let places: Vec<Place> = places().iter().map(|path| Place::new(path)).collect();
    let own = [
        Place::new(&format!("/storm/w{role}/of-{role}")),
        Place::new(&format!("/storm/of-{role}")),
    ];
    let program = Place::new("/storm/noop");
    let mut ring = Ring::new().ok();
    while shared.goes_on() {
        for _ in 0..20 {
            one(shared, &mut random, &places, &own);
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
        // A recorded process yields to the reader.
        if role == USERS.len() - 1 {
            pause(2);
        }
    }
}

/// Files and directories inside and outside of watched ones, some of which come and go.
fn places() -> Vec<String> {
    let mut places: Vec<String> = (0..KEPT).map(|at| format!("/storm/w{at}/f")).collect();
    places.extend((0..REPLACED).map(|at| format!("/storm/p{at}/f")));
    for evicter in 0..2 {
        places.extend((0..4).map(|at| format!("/storm/e{evicter}/d{at}/f")));
        places.extend(["m", "x", "v"].map(|kind| format!("/storm/{kind}{evicter}/f")));
        places.push(format!("/storm/e{evicter}/d0"));
    }
    places.extend(["/proc/self/stat", "/storm/f", "/storm/q0/f", "/init"].map(str::to_owned));
    places
}

fn one(shared: &Shared, random: &mut Random, places: &[Place], own: &[Place; 2]) {
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
