/* bp.rs - the contract for plugins in Rust, as far as components, with declared fields or with storage of their own, and
 * systems need it: the structs of bp_field.h, bp_component.h, bp_system.h and bp_plugin.h, with their sizes asserted,
 * and of the host's tables memory, errors and worlds. Members that are left out are null or 0, as in C. Without Rust's
 * standard library, which keeps state of its own (docs/languages.md).
 *
 *     mod bp {
 *         include!(concat!(env!("BACKPLANE_HEADERS"), "/bp.rs"));
 *     }
 *
 * Each struct says which struct of the headers it is; what its members mean stands there.
 *
 * What it does not do: other tables of the host are addresses without a type, and there are no extensions.
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
pub const TERM_OPTIONAL: u32 = 1 << 1;
pub const TERM_EXCLUDE: u32 = 1 << 2;
pub const OK: i32 = 0;
pub const ERROR_MEMORY: i32 = 1;
pub const ERROR_LIMIT: i32 = 8;

/// bp_value_t
#[repr(C)]
#[derive(Clone, Copy)]
pub union Value {
    pub boolean: u8,
    pub i8: i8,
    pub u8: u8,
    pub i16: i16,
    pub u16: u16,
    pub i32: i32,
    pub u32: u32,
    pub i64: i64,
    pub u64: u64,
    pub f32: f32,
    pub f64: f64,
    pub vec2: [f32; 2],
    pub vec3: [f32; 3],
    pub vec4: [f32; 4],
    pub dvec2: [f64; 2],
    pub dvec3: [f64; 3],
    pub dvec4: [f64; 4],
    pub quat: [f32; 4],
    pub mat4: [f32; 16],
    pub colour: [f32; 4],
    pub string: *const u8,
    pub entity: u64,
    pub name: u64,
}

/* --- the host's tables ------------------------------------------------------------------------------------------- */

/// bp_memory_api
#[repr(C)]
pub struct MemoryApi {
    pub struct_size: u32,
    padding: u32,
    pub resize: unsafe extern "C" fn(*const Plugin, *mut c_void, usize, usize) -> *mut c_void,
}

/// bp_call_failure_t
#[repr(C)]
pub struct CallFailure {
    pub struct_size: u32,
    pub range: u32,
    pub failed: u32,
    padding: u32,
    pub world: *const u8,
    pub unit: *const u8,
    pub text: *const u8,
}

/// bp_error_api
#[repr(C)]
pub struct ErrorApi {
    pub struct_size: u32,
    padding: u32,
    pub set: unsafe extern "C" fn(host: *mut c_void, code: i32, text: *const u8) -> i32,
    pub last: unsafe extern "C" fn(host: *mut c_void) -> *const u8,
    pub log: unsafe extern "C" fn(plugin: *const Plugin, level: i32, text: *const u8),
    pub of_call: unsafe extern "C" fn(host: *mut c_void, index: u32, failure: *mut CallFailure) -> u32,
}

/// bp_world_api
#[repr(C)]
pub struct WorldApi {
    pub struct_size: u32,
    padding: u32,
    find: *const c_void,
    at: *const c_void,
    name: *const c_void,
    clock: *const c_void,
    component: *const c_void,
    manager: *const c_void,
    key: *const c_void,
    key_info: *const c_void,
    prototype: *const c_void,
    create: *const c_void,
    add: *const c_void,
    remove: *const c_void,
    has: *const c_void,
    slots: *const c_void,
    keys_of: *const c_void,
    count: *const c_void,
    pub instances_moved: unsafe extern "C" fn(*mut Manager, *const u64, *const u64, *const u32, count: u32),
    pub instances_changed: unsafe extern "C" fn(*mut Manager, slots: *const u32, count: u32),
    pub instances_changed_range: unsafe extern "C" fn(*mut Manager, first: u32, count: u32),
    ref_: *const c_void,
    use_component: *const c_void,
    use_system: *const c_void,
    drop_component: *const c_void,
    drop_system: *const c_void,
    ref_write: *const c_void,
    own: *const c_void,
    next: *const c_void,
}

/// bp_api_t
#[repr(C)]
pub struct Api {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    padding: u32,
    pub memory: *const MemoryApi,
    pub error: *const ErrorApi,
    pub name: *const c_void,
    pub entity: *const c_void,
    pub world: *const WorldApi,
    pub property: *const c_void,
    pub registry: *const c_void,
    pub report: *const c_void,
    pub command: *const c_void,
    pub scene: *const c_void,
    pub file: *const c_void,
}

/* --- what verbs are handed --------------------------------------------------------------------------------------- */

/// bp_plugin_t
#[repr(C)]
pub struct Plugin {
    pub struct_size: u32,
    pub option_count: u32,
    pub api: *const Api,
    pub host: *mut c_void,
    pub name: *const u8,
    pub options: *const Value,
    pub state: *mut c_void,
    pub user: *mut c_void,
}

/// bp_manager_t
#[repr(C)]
pub struct Manager {
    pub struct_size: u32,
    pub component: u32,
    pub api: *const Api,
    pub host: *mut c_void,
    pub world: *mut c_void,
    pub plugin: *const Plugin,
    pub state: *mut c_void,
    pub user: *mut c_void,
    pub watched: u32,
    padding: u32,
}

/// bp_system_t
#[repr(C)]
pub struct SystemAtWork {
    pub struct_size: u32,
    padding: u32,
    pub api: *const Api,
    pub host: *mut c_void,
    pub world: *mut c_void,
    pub plugin: *const Plugin,
    pub state: *mut c_void,
    pub user: *mut c_void,
}

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
    pub manager: *mut Manager,
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

/// bp_match_t
#[repr(C)]
pub struct Match {
    pub struct_size: u32,
    pub count: u32,
    pub first: u32,
    pub range: u32,
    pub prototype: u32,
    padding: u32,
    pub system: *mut SystemAtWork,
    pub step: *const Step,
    pub entities: *const u64,
    pub columns: *const *const *mut c_void,
    pub slots: *const *const u32,
    lists: *mut c_void,
    reserved: [*mut c_void; 5],
}

/// The column of the `number`-th field that term `term` asks for, as far as this call goes. `T` as for `column`.
///
/// # Safety
/// `T` is what the term asks for, the component is not absent, the match is the one that the verb was called with, no
/// column is taken twice, and one that the term only reads is not written.
pub unsafe fn term_column<'a, T>(matched: &'a Match, term: usize, number: usize, count: u32) -> &'a mut [T] {
    core::slice::from_raw_parts_mut(*(*matched.columns.add(term)).add(number) as *mut T, count as usize)
}

/* --- what a plugin declares -------------------------------------------------------------------------------------- */

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

/// bp_storage_i
#[repr(C)]
pub struct Storage {
    pub struct_size: u32,
    pub padding: u32,
    pub create: Option<
        unsafe extern "C" fn(*mut Manager, name: u64, *const u64, count: u32, *const *const c_void, *mut u32) -> i32,
    >,
    pub destroy: Option<unsafe extern "C" fn(*mut Manager, slots: *const u32, count: u32)>,
    pub get: Option<unsafe extern "C" fn(*mut Manager, field: u32, *const u32, count: u32, *mut c_void, usize) -> i32>,
    pub set: Option<unsafe extern "C" fn(*mut Manager, field: u32, *const u32, count: u32, *const c_void, usize) -> i32>,
    pub count: Option<unsafe extern "C" fn(*mut Manager) -> u32>,
    pub gc: Option<unsafe extern "C" fn(*mut Manager, random: *mut u64) -> u32>,
}

impl Storage {
    pub const NONE: Storage = Storage {
        struct_size: core::mem::size_of::<Storage>() as u32,
        padding: 0,
        create: None,
        destroy: None,
        get: None,
        set: None,
        count: None,
        gc: None,
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
    pub start: Option<unsafe extern "C" fn(*mut Manager) -> i32>,
    pub stop: Option<unsafe extern "C" fn(*mut Manager)>,
    pub simulate: Option<Simulate>,
    pub storage: *const Storage,
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
        start: None,
        stop: None,
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

/// bp_term_field_t
#[repr(C)]
pub struct TermField {
    pub name: *const u8,
    pub kind: u32,
    pub access: u32,
    pub column: u32,
    pub flags: u32,
    pub count: u32,
    pub padding: u32,
}

impl TermField {
    pub const NONE: TermField =
        TermField { name: core::ptr::null(), kind: 0, access: 0, column: 0, flags: 0, count: 0, padding: 0 };
}

/// bp_term_t
#[repr(C)]
pub struct Term {
    pub component: *const u8,
    pub instance: *const u8,
    pub flags: u32,
    pub padding: u32,
    pub fields: List<TermField>,
    pub world: *const u8,
    pub reserved: [*const c_void; 1],
}

impl Term {
    pub const NONE: Term = Term {
        component: core::ptr::null(),
        instance: core::ptr::null(),
        flags: 0,
        padding: 0,
        fields: List::NONE,
        world: core::ptr::null(),
        reserved: [core::ptr::null(); 1],
    };
}

/// bp_system_i
#[repr(C)]
pub struct System {
    pub name: *const u8,
    pub doc: *const u8,
    pub flags: u32,
    pub padding: u32,
    pub terms: List<Term>,
    pub before: *const u8,
    pub after: *const u8,
    pub reads: *const u8,
    pub writes: *const u8,
    pub start: Option<unsafe extern "C" fn(*mut SystemAtWork) -> i32>,
    pub stop: Option<unsafe extern "C" fn(*mut SystemAtWork)>,
    pub run: Option<unsafe extern "C" fn(matched: *const Match, count: u32)>,
    pub run_all: Option<unsafe extern "C" fn(*mut SystemAtWork, *const Step, *const Match, count: u32)>,
    pub entities_added: Option<unsafe extern "C" fn(*mut SystemAtWork, *const u64, count: u32)>,
    pub entities_removed: Option<unsafe extern "C" fn(*mut SystemAtWork, *const u64, count: u32)>,
    pub state_form: u64,
    pub keeps: u32,
    pub padding_2: u32,
    pub user: *const c_void,
    pub extensions: List<c_void>,
    pub reserved: [*const c_void; 2],
}

impl System {
    pub const NONE: System = System {
        name: core::ptr::null(),
        doc: core::ptr::null(),
        flags: 0,
        padding: 0,
        terms: List::NONE,
        before: core::ptr::null(),
        after: core::ptr::null(),
        reads: core::ptr::null(),
        writes: core::ptr::null(),
        start: None,
        stop: None,
        run: None,
        run_all: None,
        entities_added: None,
        entities_removed: None,
        state_form: 0,
        keeps: 0,
        padding_2: 0,
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
    pub systems: List<System>,
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
unsafe impl Sync for Storage {}
unsafe impl Sync for TermField {}
unsafe impl Sync for Term {}
unsafe impl Sync for System {}
unsafe impl Sync for Desc {}
unsafe impl Sync for Head {}

/* As large as in C: tests/scripts/languages.sh compares these numbers with the headers. */
const _: () = assert!(core::mem::size_of::<Field>() == 104);
const _: () = assert!(core::mem::size_of::<Component>() == 144);
const _: () = assert!(core::mem::size_of::<Desc>() == 216);
const _: () = assert!(core::mem::size_of::<Head>() == 48);
const _: () = assert!(core::mem::size_of::<Run>() == 112);
const _: () = assert!(core::mem::size_of::<Step>() == 48);
const _: () = assert!(core::mem::size_of::<Match>() == 112);
const _: () = assert!(core::mem::size_of::<Value>() == 64);
const _: () = assert!(core::mem::size_of::<MemoryApi>() == 16);
const _: () = assert!(core::mem::size_of::<CallFailure>() == 40);
const _: () = assert!(core::mem::size_of::<ErrorApi>() == 40);
const _: () = assert!(core::mem::size_of::<WorldApi>() == 224);
const _: () = assert!(core::mem::size_of::<Api>() == 104);
const _: () = assert!(core::mem::size_of::<Plugin>() == 56);
const _: () = assert!(core::mem::size_of::<Manager>() == 64);
const _: () = assert!(core::mem::size_of::<SystemAtWork>() == 56);
const _: () = assert!(core::mem::size_of::<Storage>() == 56);
const _: () = assert!(core::mem::size_of::<TermField>() == 32);
const _: () = assert!(core::mem::size_of::<Term>() == 56);
const _: () = assert!(core::mem::size_of::<System>() == 176);
