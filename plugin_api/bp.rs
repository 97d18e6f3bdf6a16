/* bp.rs - the contract for plugins in Rust, as far as a component with declared fields needs it: the structs of
 * bp_field.h, bp_component.h and bp_plugin.h, with their sizes asserted. Members that are left out are null or 0, as in
 * C. Without Rust's standard library, which keeps state of its own (docs/languages.md).
 *
 *     mod bp {
 *         include!(concat!(env!("BACKPLANE_HEADERS"), "/bp.rs"));
 *     }
 *
 * What it does not do: it has no tables of the host and no systems.
 */

use core::ffi::c_void;

pub const BOOL: u32 = 1;
pub const I32: u32 = 2;
pub const U32: u32 = 3;
pub const I64: u32 = 4;
pub const F32: u32 = 5;
pub const F64: u32 = 6;
pub const VEC2: u32 = 7;
pub const VEC3: u32 = 8;
pub const VEC4: u32 = 9;
pub const QUAT: u32 = 10;
pub const MAT4: u32 = 11;
pub const COLOUR: u32 = 12;
pub const STRING: u32 = 13;
pub const ENTITY: u32 = 14;
pub const NAME: u32 = 15;
pub const I8: u32 = 16;
pub const U8: u32 = 17;
pub const I16: u32 = 18;
pub const U16: u32 = 19;
pub const U64: u32 = 20;
pub const DVEC2: u32 = 21;
pub const DVEC3: u32 = 22;
pub const DVEC4: u32 = 23;
pub const FIELD_READ_ONLY: u32 = 1;
pub const FIELD_LIST: u32 = 1 << 5;
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
    reserved: [*mut c_void; 4],
}

/// The column of field `number`, in the order of declaration, as far as this call goes. `T` is the type of its values;
/// an array has several of them in a row, `[T; N]`.
///
/// # Safety
/// `T` is what the field declares, the run is the one that the verb was called with, and no column is taken twice.
pub unsafe fn column<'a, T>(run: &'a Run, number: usize, count: u32) -> &'a mut [T] {
    core::slice::from_raw_parts_mut(*run.columns.add(number) as *mut T, count as usize)
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
    pub padding: u32,
    pub user: *const c_void,
    pub extensions: List<c_void>,
    pub reserved: [*const c_void; 2],
}

impl Component {
    pub const NONE: Component = Component {
        name: core::ptr::null(),
        doc: core::ptr::null(),
        version: 0,
        flags: 0,
        fields: List::NONE,
        reads: core::ptr::null(),
        writes: core::ptr::null(),
        start: core::ptr::null(),
        stop: core::ptr::null(),
        simulate: None,
        storage: core::ptr::null(),
        state_form: 0,
        keeps: 0,
        padding: 0,
        user: core::ptr::null(),
        extensions: List::NONE,
        reserved: [core::ptr::null(); 2],
    };
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
    pub loaders: List<c_void>,
    pub extensions: List<c_void>,
    pub reserved: [*const c_void; 2],
}

impl Desc {
    pub const NONE: Desc = Desc {
        version: core::ptr::null(),
        doc: core::ptr::null(),
        flags_required: 0,
        flags: 0,
        least_minor: 0,
        padding: 0,
        components: List::NONE,
        systems: List::NONE,
        options: List::NONE,
        tables: List::NONE,
        tasks: List::NONE,
        verbs: [core::ptr::null(); 4],
        state_form: 0,
        keeps: 0,
        padding_2: 0,
        loaders: List::NONE,
        extensions: List::NONE,
        reserved: [core::ptr::null(); 2],
    };
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
const _: () = assert!(core::mem::size_of::<Desc>() == 216);
const _: () = assert!(core::mem::size_of::<Head>() == 48);
const _: () = assert!(core::mem::size_of::<Run>() == 112);
const _: () = assert!(core::mem::size_of::<Step>() == 48);
