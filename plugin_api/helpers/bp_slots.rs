/* bp_slots.rs - storage of its own for a component in Rust, without writing what all such storages share.
 *
 * Instances lie in one block of memory, by slot, numbered from 0 without gaps, each with its entity and with the name
 * that it has there. What an instance holds is the plugin's, a type that is plain bytes. An instance that ends leaves
 * its slot to the last one, and the world is told where that one lies now.
 *
 *     mod bp {
 *         include!(concat!(env!("BACKPLANE_HEADERS"), "/bp.rs"));
 *         include!(concat!(env!("BACKPLANE_HEADERS"), "/helpers/bp_slots.rs"));
 *     }
 *     bp::Slots::<Item>::start(m)                                     in `start`
 *     bp::Slots::<Item>::of(m).create(m, name, entities, count, slots, fresh)  in `create`
 *     bp::Slots::<Item>::of(m).items()[slot].item.value               anywhere
 *     bp::Slots::<Item>::of(m).destroy(m, slots, count)               in `destroy`
 *     bp::Slots::<Item>::stop(m)                                      in `stop`
 *
 * The component leaves `gc` out, so that the host tells of each death at once, by `destroy`.
 *
 * All functions are [main] and need a manager that is at work. For C and C++ there is bp_slots.h, which can collect the
 * dead later, too.
 *
 * What this file does not do: it is no part of the boundary between host and plugin. The file is compiled into the
 * plugin, the host knows nothing of it, and a later version may change it.
 */

/// What lies in a slot.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Instance<T: Copy> {
    pub entity: u64,
    pub name: u64,
    pub item: T,
}

/// All instances of a manager; its state.
#[repr(C)]
pub struct Slots<T: Copy> {
    instances: *mut Instance<T>,
    count: u32,
    room: u32,
}

impl<T: Copy> Slots<T> {
    const ITEM: usize = core::mem::size_of::<Instance<T>>();

    /// The state of a manager that begins: no instances. ERROR_MEMORY leaves nothing behind.
    pub unsafe fn start(m: *mut Manager) -> i32 {
        let state = (*(*(*m).api).memory).resize;
        let slots = state((*m).plugin, core::ptr::null_mut(), 0, core::mem::size_of::<Self>()) as *mut Self;
        if slots.is_null() {
            return Self::refuse(m, ERROR_MEMORY, b"out of memory at the start of a component\0");
        }
        slots.write(Slots { instances: core::ptr::null_mut(), count: 0, room: 0 });
        (*m).state = slots as *mut c_void;
        OK
    }

    /// Give all memory back.
    pub unsafe fn stop(m: *mut Manager) {
        let slots = Self::of(m);
        slots.resize(m, 0);
        let resize = (*(*(*m).api).memory).resize;
        resize((*m).plugin, (*m).state, core::mem::size_of::<Self>(), 0);
        (*m).state = core::ptr::null_mut();
    }

    /// The instances of a manager between `start` and `stop`.
    pub unsafe fn of<'a>(m: *mut Manager) -> &'a mut Self {
        &mut *((*m).state as *mut Self)
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// By slot. Good until instances are made or end.
    pub fn items(&mut self) -> &mut [Instance<T>] {
        if self.count == 0 {
            return &mut [];
        }
        unsafe { core::slice::from_raw_parts_mut(self.instances, self.count as usize) }
    }

    /// New instances, in the slots that are written to `new_slots`. ERROR_MEMORY, ERROR_LIMIT: there are as many as
    /// before.
    pub unsafe fn create(
        &mut self, m: *mut Manager, name: u64, entities: *const u64, count: u32, new_slots: *mut u32, fresh: T,
    ) -> i32 {
        let needed = self.count as u64 + count as u64;
        if needed >= u32::MAX as u64 {
            return Self::refuse(m, ERROR_LIMIT, b"a component has more than 4294967294 instances\0");
        }
        let mut room = if self.room == 0 { 16 } else { self.room as u64 };
        while room < needed {
            room *= 2;
        }
        if needed > self.room as u64 && !self.resize(m, room.min(u32::MAX as u64 - 1) as u32) {
            return Self::refuse(m, ERROR_MEMORY, b"out of memory for more instances of a component\0");
        }
        for i in 0..count {
            let instance = Instance { entity: *entities.add(i as usize), name, item: fresh };
            self.instances.add((self.count + i) as usize).write(instance);
            *new_slots.add(i as usize) = self.count + i;
        }
        self.count += count;
        OK
    }

    /// End instances; the slots are in descending order and without duplicates, as `destroy` gets them.
    pub unsafe fn destroy(&mut self, m: *mut Manager, slots: *const u32, count: u32) {
        for i in 0..count {
            let slot = *slots.add(i as usize);
            self.count -= 1;
            if slot == self.count {
                continue;
            }
            let last = *self.instances.add(self.count as usize);
            self.instances.add(slot as usize).write(last);
            ((*(*(*m).api).world).instances_moved)(m, &last.entity, &last.name, &slot, 1);
        }
        if self.count < self.room / 4 {
            self.resize(m, self.count * 2); // one that cannot shrink stays as it is
        }
    }

    /// Room for so many instances, and no more. False: it is as it was.
    unsafe fn resize(&mut self, m: *mut Manager, room: u32) -> bool {
        if room == self.room {
            return true;
        }
        let (old, new) = (self.room as usize * Self::ITEM, room as usize * Self::ITEM);
        let instances = ((*(*(*m).api).memory).resize)((*m).plugin, self.instances as *mut c_void, old, new);
        if instances.is_null() && room > 0 {
            return false;
        }
        self.instances = instances as *mut Instance<T>;
        self.room = room;
        true
    }

    unsafe fn refuse(m: *mut Manager, code: i32, why: &'static [u8]) -> i32 {
        ((*(*(*m).api).error).set)((*m).host, code, text(why))
    }
}
