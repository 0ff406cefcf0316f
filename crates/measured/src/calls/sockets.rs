//! Sockets: connections, and listening.

use core::time::Duration;

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{self, AddressFamily, Ipv4Addr, SocketAddrV4, SocketType, sockopt};

use crate::call::{Call, CallSetup};
use crate::raw_syscalls::{Fault, syscall, word};

/// `connect`: socket, connect to a listener of its own over TCP and the loopback device, accept,
/// and two closes.
///
/// The accepted socket does not linger: its close resets the connection, so that neither side stays
/// in `TIME_WAIT`. It inherits that from the listener.
pub struct Connect {
    listener: OwnedFd,
    address: libc::sockaddr_in,
}

impl Call for Connect {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let listener = net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        sockopt::set_socket_linger(&listener, Some(Duration::ZERO))?;
        net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        net::listen(&listener, 1)?;
        let bound = SocketAddrV4::try_from(net::getsockname(&listener)?)?;
        let address = libc::sockaddr_in {
            sin_family: AddressFamily::INET.as_raw(),
            sin_port: bound.port().to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from(*bound.ip()).to_be() },
            sin_zero: [0; 8],
        };
        Ok(Self { listener, address })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let stream = [word(libc::AF_INET), word(libc::SOCK_STREAM), 0];
        let address = &raw const self.address as usize;
        // SAFETY: reads the address; the descriptors closed are the two just opened.
        unsafe {
            let client = syscall(libc::SYS_socket, stream)?;
            let connect = [client, address, size_of::<libc::sockaddr_in>()];
            syscall(libc::SYS_connect, connect)?;
            let server = syscall(libc::SYS_accept, [word(self.listener.as_raw_fd()), 0, 0])?;
            syscall(libc::SYS_close, [server])?;
            syscall(libc::SYS_close, [client]).map(drop)
        }
    }
}

/// `bind`: socket, bind to a free port of the loopback device, listen, close.
pub struct Bind {
    address: libc::sockaddr_in,
}

impl Call for Bind {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let address = libc::sockaddr_in {
            sin_family: AddressFamily::INET.as_raw(),
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() },
            sin_zero: [0; 8],
        };
        Ok(Self { address })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let stream = [word(libc::AF_INET), word(libc::SOCK_STREAM), 0];
        let address = &raw const self.address as usize;
        // SAFETY: reads the address; the descriptor closed is the one just opened.
        unsafe {
            let socket = syscall(libc::SYS_socket, stream)?;
            syscall(libc::SYS_bind, [socket, address, size_of::<libc::sockaddr_in>()])?;
            syscall(libc::SYS_listen, [socket, 1])?;
            syscall(libc::SYS_close, [socket]).map(drop)
        }
    }
}

/// `accept`: socket, connect to a listener of its own over a unix socket, accept4, two closes.
pub struct Accept {
    listener: OwnedFd,
    address: libc::sockaddr_un,
}

impl Call for Accept {
    fn prepare(_: &CallSetup) -> Result<Self, Fault> {
        let name = c"listener";
        let listener = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        net::bind(&listener, &net::SocketAddrUnix::new(name)?)?;
        net::listen(&listener, 8)?;
        let mut address =
            libc::sockaddr_un { sun_family: AddressFamily::UNIX.as_raw(), sun_path: [0; 108] };
        for (place, &byte) in address.sun_path.iter_mut().zip(name.to_bytes()) {
            *place = i8::from_ne_bytes([byte]);
        }
        Ok(Self { listener, address })
    }

    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        let stream = [word(libc::AF_UNIX), word(libc::SOCK_STREAM), 0];
        let address = &raw const self.address as usize;
        // SAFETY: reads the address; the descriptors closed are the two just opened.
        unsafe {
            let client = syscall(libc::SYS_socket, stream)?;
            syscall(libc::SYS_connect, [client, address, size_of::<libc::sockaddr_un>()])?;
            let server = syscall(libc::SYS_accept4, [word(self.listener.as_raw_fd()), 0, 0, 0])?;
            syscall(libc::SYS_close, [server])?;
            syscall(libc::SYS_close, [client]).map(drop)
        }
    }
}
