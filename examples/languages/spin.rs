/* spin.rs - the plugin of README.md in Rust, without a crate and without Rust's standard library, which keeps state of
 * its own. The fields are those of the other versions, so that each can take over from the others in a running world
 * (docs/languages.md).
 */
#![no_std]
#![allow(dead_code)]

extern "C" {
    fn abort() -> !;
}

/// A panic is a crash of the plugin, which the host's guard ends.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

/// Never called, because nothing unwinds. Rust's core, which comes compiled, asks for a function of this name.
#[no_mangle]
extern "C" fn rust_eh_personality() {}

/// The contract, as it lies beside the headers for C.
#[path = "../../plugin_api/bp.rs"]
mod bp;

use bp::text;

static FIELDS: [bp::Field; 2] = [
    bp::Field {
        name: text(b"angle\0"),
        kind: bp::F32,
        access: bp::WRITE,
        column: 1,
        unit: text(b"turns\0"),
        doc: text(b"where it stands now\0"),
        ..bp::Field::NONE
    },
    bp::Field {
        name: text(b"speed\0"),
        kind: bp::F32,
        access: bp::READ,
        column: 2,
        initial: text(b"1\0"),
        min: text(b"0\0"),
        unit: text(b"turns/s\0"),
        doc: text(b"how fast it turns\0"),
        ..bp::Field::NONE
    },
];

fn turn(angles: &mut [f32], speeds: &[f32], dt: f32) {
    for (angle, speed) in angles.iter_mut().zip(speeds) {
        *angle += speed * dt;
    }
}

/// Columns never overlap, and only the verb uses them until it returns: so they may be slices.
unsafe extern "C" fn simulate(run: *const bp::Run, count: u32) {
    let run = &*run;
    let angles = bp::column(run, 0, count);
    let speeds = bp::column(run, 1, count);
    turn(angles, speeds, (*run.step).dt as f32);
}

static COMPONENTS: [bp::Component; 1] = [bp::Component {
    doc: text(b"an angle that grows\0"),
    fields: bp::List::of(&FIELDS),
    simulate: Some(simulate),
    ..bp::Component::NONE
}];

static DESC: bp::Desc =
    bp::Desc { version: text(b"3.0, Rust\0"), components: bp::List::of(&COMPONENTS), ..bp::Desc::NONE };

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static bp_plugin: bp::Head = bp::Head::of(b"spin\0", &DESC);
