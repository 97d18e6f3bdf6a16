/* spin.rs - the plugin of README.md in Rust, without a crate and without Rust's standard library, which keeps state of
 * its own: the few declarations of the contract that it needs, then the plugin. The fields are those of the other
 * versions, so that each can take over from the others in a running world (docs/languages.md).
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

/// What plugin_api/ declares, as far as this plugin needs it. Members that it leaves out are null or 0, as in C.
mod bp {
    use core::ffi::c_void;

    pub const F32: u32 = 5;
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;

    /// bp_step_t
    #[repr(C)]
    pub struct Step {
        pub struct_size: u32,
        padding: u32,
        pub number: u64,
        pub dt: f64,
        pub time: f64,
        commands: *mut c_void,
        moment: u64,
    }

    /// bp_run_t
    #[repr(C)]
    pub struct Run {
        pub struct_size: u32,
        pub count: u32,
        pub first: u32,
        pub range: u32,
        pub prototype: u32,
        padding: u32,
        manager: *mut c_void,
        pub step: *const Step,
        pub entities: *const u64,
        pub columns: *const *mut c_void,
        slots: *const u32,
        instance: u64,
        lists: *mut c_void,
        stamps: *const c_void,
        reserved: [*mut c_void; 3],
    }

    /// A list of the contract: items, how many, and the bytes of each.
    #[repr(C)]
    pub struct List<T> {
        pub items: *const T,
        pub count: u32,
        pub item_size: u32,
    }

    impl<T> List<T> {
        pub const NONE: List<T> = List { items: core::ptr::null(), count: 0, item_size: 0 };

        pub const fn of<const N: usize>(items: &'static [T; N]) -> List<T> {
            List { items: items as *const T, count: N as u32, item_size: core::mem::size_of::<T>() as u32 }
        }
    }

    /// bp_field_t
    #[repr(C)]
    pub struct Field {
        pub name: *const u8,
        pub kind: u32,
        pub access: u32,
        pub column: u32,
        pub flags: u32,
        pub count: u32,
        pub padding: u32,
        pub initial: *const u8,
        pub min: *const u8,
        pub max: *const u8,
        pub unit: *const u8,
        pub doc: *const u8,
        pub former_name: *const u8,
        pub values: *const u8,
        pub reserved: [*const c_void; 2],
    }

    impl Field {
        pub const NONE: Field = Field {
            name: core::ptr::null(),
            kind: 0,
            access: 0,
            column: 0,
            flags: 0,
            count: 0,
            padding: 0,
            initial: core::ptr::null(),
            min: core::ptr::null(),
            max: core::ptr::null(),
            unit: core::ptr::null(),
            doc: core::ptr::null(),
            former_name: core::ptr::null(),
            values: core::ptr::null(),
            reserved: [core::ptr::null(); 2],
        };
    }

    pub type Simulate = unsafe extern "C" fn(run: *const Run, count: u32);

    /// bp_component_i
    #[repr(C)]
    pub struct Component {
        pub name: *const u8,
        pub doc: *const u8,
        pub version: u32,
        pub flags: u32,
        pub fields: List<Field>,
        pub reads: *const u8,
        pub writes: *const u8,
        pub start: *const c_void,
        pub stop: *const c_void,
        pub simulate: Option<Simulate>,
        pub storage: *const c_void,
        pub state_form: u64,
        pub keeps: u32,
        pub padding_2: u32,
        pub user: *const c_void,
        pub extensions: List<c_void>,
        pub reserved: [*const c_void; 2],
    }

    /// bp_plugin_desc_t
    #[repr(C)]
    pub struct Desc {
        pub version: *const u8,
        pub doc: *const u8,
        pub flags_required: u64,
        pub flags: u64,
        pub least_minor: u32,
        pub padding: u32,
        pub components: List<Component>,
        pub systems: List<c_void>,
        pub options: List<Field>,
        pub tables: List<c_void>,
        pub tasks: List<c_void>,
        pub verbs: [*const c_void; 4],
        pub state_form: u64,
        pub keeps: u32,
        pub padding_2: u32,
        pub reserved: [*const c_void; 4],
    }

    /// bp_plugin_head_t
    #[repr(C)]
    pub struct Head {
        pub magic: u64,
        pub struct_size: u32,
        pub pointer_size: u32,
        pub abi_major: u32,
        pub abi_minor: u32,
        pub name: *const u8,
        pub desc: *const Desc,
        pub desc_size: u32,
        pub padding: u32,
    }

    impl Head {
        pub const fn of(name: &'static [u8], desc: &'static Desc) -> Head {
            Head {
                magic: 0x324E_474C_5050_4B42,
                struct_size: core::mem::size_of::<Head>() as u32,
                pointer_size: core::mem::size_of::<*const c_void>() as u32,
                abi_major: 2,
                abi_minor: 0,
                name: text(name),
                desc,
                desc_size: core::mem::size_of::<Desc>() as u32,
                padding: 0,
            }
        }
    }

    /// A text of C from bytes that end with a zero.
    pub const fn text(bytes: &'static [u8]) -> *const u8 {
        assert!(bytes[bytes.len() - 1] == 0);
        bytes.as_ptr()
    }

    /* Constants that only the host reads, from whatever thread. */
    unsafe impl Sync for Field {}
    unsafe impl Sync for Component {}
    unsafe impl Sync for Desc {}
    unsafe impl Sync for Head {}

    /* As large as in C: tests/scripts/languages.sh compares these numbers with the headers. */
    const _: () = assert!(core::mem::size_of::<Field>() == 104);
    const _: () = assert!(core::mem::size_of::<Component>() == 144);
    const _: () = assert!(core::mem::size_of::<Desc>() == 200);
    const _: () = assert!(core::mem::size_of::<Head>() == 48);
    const _: () = assert!(core::mem::size_of::<Run>() == 112);
    const _: () = assert!(core::mem::size_of::<Step>() == 48);
}

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

/// Columns never overlap, and are the verb's until it returns: so they may be slices.
unsafe extern "C" fn simulate(run: *const bp::Run, count: u32) {
    let run = &*run;
    let angles = core::slice::from_raw_parts_mut(*run.columns as *mut f32, count as usize);
    let speeds = core::slice::from_raw_parts(*run.columns.add(1) as *const f32, count as usize);
    turn(angles, speeds, (*run.step).dt as f32);
}

static COMPONENTS: [bp::Component; 1] = [bp::Component {
    name: core::ptr::null(),
    doc: text(b"an angle that grows\0"),
    version: 0,
    flags: 0,
    fields: bp::List::of(&FIELDS),
    reads: core::ptr::null(),
    writes: core::ptr::null(),
    start: core::ptr::null(),
    stop: core::ptr::null(),
    simulate: Some(simulate),
    storage: core::ptr::null(),
    state_form: 0,
    keeps: 0,
    padding_2: 0,
    user: core::ptr::null(),
    extensions: bp::List::NONE,
    reserved: [core::ptr::null(); 2],
}];

static DESC: bp::Desc = bp::Desc {
    version: text(b"3.0, Rust\0"),
    doc: core::ptr::null(),
    flags_required: 0,
    flags: 0,
    least_minor: 0,
    padding: 0,
    components: bp::List::of(&COMPONENTS),
    systems: bp::List::NONE,
    options: bp::List::NONE,
    tables: bp::List::NONE,
    tasks: bp::List::NONE,
    verbs: [core::ptr::null(); 4],
    state_form: 0,
    keeps: 0,
    padding_2: 0,
    reserved: [core::ptr::null(); 4],
};

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static bp_plugin: bp::Head = bp::Head::of(b"spin\0", &DESC);
