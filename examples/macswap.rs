// SPDX-License-Identifier: Apache-2.0
//! Sends each frame back to where it came from, as a network function.
//!
//!     rustc -O macswap.rs
//!     setpriv --reuid nobody --clear-groups ./macswap mirror
//!
//!     # /etc/tna/functions.d/mirror.toml
//!     users = ["nobody"]
//!     ports = ["eth0"]
//!     [[rule]]
//!     protocol = "udp"
//!     to_port = 7
//!
//! What it can neither send nor give back to Linux, it drops. No crate is needed: libtna-function is C,
//! and `abi` is what is used here of tna/function.h. What tna_function(3) asks of programs, the compiler
//! sees to: an object is for one thread, and a frame is gone when something has become of it, or at the
//! next call that receives.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{forget, size_of};
use std::os::raw::{c_char, c_int, c_uint};
use std::ptr::{null, null_mut};

mod abi {
    use super::*;

    /// Only ever behind a pointer.
    pub enum Function {}

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Frame {
        pub data: *mut u8,
        pub length: u32,
        pub port: u16,
        pub queue: u16,
        pub id: u64,
    }

    #[repr(C)]
    pub struct Options {
        pub size: usize,
        pub socket: *const c_char,
        pub queue: c_int,
        pub wait: c_uint,
        /// Not 0: it does not connect while there is no way back to Linux.
        pub gives_back: c_int,
        pub reserved: c_int,
    }
    pub const ALL_QUEUES: c_int = -1;
    pub const POLL: c_uint = 0;

    #[link(name = "tna-function")]
    extern "C" {
        pub fn tna_function_open(
            function: *mut *mut Function,
            name: *const c_char,
            options: *const Options,
        ) -> c_int;
        pub fn tna_function_close(function: *mut Function);
        pub fn tna_function_why(function: *const Function) -> *const c_char;
        pub fn tna_function_receive(
            function: *mut Function,
            frames: *mut Frame,
            most: c_uint,
            wait: c_int,
        ) -> c_int;
        pub fn tna_function_send(
            function: *mut Function,
            frame: *const Frame,
            port: c_uint,
        ) -> c_int;
        pub fn tna_function_give_back(function: *mut Function, frame: *const Frame) -> c_int;
        pub fn tna_function_drop(function: *mut Function, frame: *const Frame);
    }
}

const BATCH: usize = 64;
const EPERM: c_int = 1;
const EINTR: c_int = 4;
const EAGAIN: c_int = 11;

/// In one thread: a raw pointer is neither Send nor Sync.
struct Function(*mut abi::Function);

impl Function {
    /// `socket`: of tnad; None: the usual one.
    fn open(name: &str, socket: Option<&str>) -> io::Result<Function> {
        let name = CString::new(name)?;
        let socket = socket.map(CString::new).transpose()?;
        let options = abi::Options {
            size: size_of::<abi::Options>(),
            socket: socket.as_ref().map_or(null(), |text| text.as_ptr()),
            queue: abi::ALL_QUEUES,
            wait: abi::POLL,
            gives_back: 0, // it can do without: what cannot be given back is dropped
            reserved: 0,
        };
        let mut function = null_mut();
        let error = unsafe { abi::tna_function_open(&mut function, name.as_ptr(), &options) };
        if function.is_null() {
            return Err(io::Error::from_raw_os_error(-error));
        }
        let function = Function(function);
        match -error {
            // tnad is not there yet: receive() goes on trying.
            0 | EAGAIN => Ok(function),
            _ => Err(function.refused()),
        }
    }

    fn refused(&self) -> io::Error {
        let why = unsafe { CStr::from_ptr(abi::tna_function_why(self.0)) };
        io::Error::new(io::ErrorKind::Other, why.to_string_lossy().into_owned())
    }

    /// Waits for frames, and has each of them treated. They cannot be kept beyond that: the memory that
    /// they lie in is another one when the function has been connected anew.
    fn receive(&mut self, mut treat: impl FnMut(Frame<'_>)) -> io::Result<()> {
        let nothing = abi::Frame {
            data: null_mut(),
            length: 0,
            port: 0,
            queue: 0,
            id: 0,
        };
        let mut frames = [nothing; BATCH];
        let got =
            unsafe { abi::tna_function_receive(self.0, frames.as_mut_ptr(), BATCH as c_uint, -1) };
        if got < 0 && -got != EINTR {
            return Err(match -got {
                EPERM => self.refused(),
                error => io::Error::from_raw_os_error(error),
            });
        }
        for frame in frames.iter().take(got.max(0) as usize) {
            treat(Frame {
                function: self,
                raw: *frame,
            });
        }
        Ok(())
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        unsafe { abi::tna_function_close(self.0) }
    }
}

/// One that nothing becomes of is dropped.
struct Frame<'a> {
    function: &'a Function,
    raw: abi::Frame,
}

impl<'a> Frame<'a> {
    fn port(&self) -> u16 {
        self.raw.port
    }
    fn bytes(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.raw.data, self.raw.length as usize) }
    }
    /// The frame itself if there is no room now.
    fn send(self, port: u16) -> Result<(), Frame<'a>> {
        let error = unsafe { abi::tna_function_send(self.function.0, &self.raw, port.into()) };
        self.gone(error)
    }
    fn give_back(self) -> Result<(), Frame<'a>> {
        let error = unsafe { abi::tna_function_give_back(self.function.0, &self.raw) };
        self.gone(error)
    }
    fn gone(self, error: c_int) -> Result<(), Frame<'a>> {
        if error != 0 {
            return Err(self);
        }
        forget(self);
        Ok(())
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        unsafe { abi::tna_function_drop(self.function.0, &self.raw) }
    }
}

fn swap_addresses(frame: &mut [u8]) {
    if frame.len() < 12 {
        return;
    }
    let (destination, rest) = frame.split_at_mut(6);
    destination.swap_with_slice(&mut rest[..6]);
}

fn treat(mut frame: Frame<'_>) {
    swap_addresses(frame.bytes());
    let port = frame.port();
    if let Err(mut frame) = frame.send(port) {
        swap_addresses(frame.bytes());
        drop(frame.give_back());
    }
}

fn run(name: &str, socket: Option<&str>) -> io::Result<()> {
    let mut function = Function::open(name, socket)?;
    loop {
        function.receive(treat)?;
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() < 2 || words.len() > 3 {
        eprintln!("usage: macswap NAME [SOCKET]");
        std::process::exit(2);
    }
    if let Err(error) = run(&words[1], words.get(2).map(String::as_str)) {
        eprintln!("macswap: {}", error);
        std::process::exit(1);
    }
}
