# A program of which every instruction is counted by hand: tests/vm/test_hotspots.py has the answers.
#
# Started without an argument it calls, recurses, calls in the place of a return, jumps out of nested
# calls, handles a signal, runs a thread, and becomes itself with an argument. Then it ends.

.macro function name
    .globl \name
    .type \name, @function
\name:
.endm

.macro end name
    .size \name, . - \name
.endm

.text

function _start
    cmpl $1, (%rsp)
    jne .Lsecond
    mov $1000, %ecx
    call spin
    mov $5, %edi
    call recurse
    call tail
    call jumper
    call signaller
    call threader
    mov $59, %eax               # execve
    lea path(%rip), %rdi
    lea arguments(%rip), %rsi
    xor %edx, %edx
    syscall
    ud2
.Lsecond:
    mov $777, %ecx
    call second
    mov $60, %eax               # exit
    xor %edi, %edi
    syscall
end _start

function spin
    dec %ecx
    jnz spin
    ret
end spin

function second
    dec %ecx
    jnz second
    ret
end second

function recurse
    dec %edi
    jz .Lbottom
    call recurse
.Lbottom:
    ret
end recurse

function tail
    mov $10, %ecx
    jmp tailed
end tail

function tailed
    dec %ecx
    jnz tailed
    ret
end tailed

function jumper
    lea .Ljumped(%rip), %rax
    mov %rax, place(%rip)
    mov %rsp, stack(%rip)
    call deep
    ud2
.Ljumped:
    mov $20, %ecx
    call spin
    ret
end jumper

function deep
    call deeper
    ud2
end deep

function deeper
    mov stack(%rip), %rsp
    mov place(%rip), %rax
    jmp *%rax
end deeper

function signaller
    mov $13, %eax               # rt_sigaction
    mov $10, %edi
    lea action(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
    mov $39, %eax               # getpid
    syscall
    mov %eax, %edi
    mov $10, %esi
    mov $62, %eax               # kill
    syscall
    ret
end signaller

function handler
    mov $30, %ecx
    call spin
    ret
end handler

function restorer
    mov $15, %eax               # rt_sigreturn
    syscall
end restorer

function threader
    mov $56, %eax               # clone: memory, files and signals in common, tid cleared at the end
    mov $0x250f00, %edi
    lea thread_stack(%rip), %rsi
    xor %edx, %edx
    lea tid(%rip), %r10
    xor %r8d, %r8d
    syscall
    test %eax, %eax
    jz thread
.Lwait:
    cmpl $0, tid(%rip)
    je .Lended
    mov $202, %eax              # futex
    lea tid(%rip), %rdi
    xor %esi, %esi
    mov $1, %edx
    xor %r10d, %r10d
    syscall
    jmp .Lwait
.Lended:
    ret
end threader

function thread
    mov $40, %ecx
    call spin
    mov $60, %eax               # exit
    xor %edi, %edi
    syscall
end thread

.data
path: .asciz "/usr/local/bin/command"
again: .asciz "again"
    .balign 8
arguments: .quad path, again, 0
action: .quad handler, 0x04000000, restorer, 0
tid: .long 1

.bss
    .balign 16
place: .skip 8
stack: .skip 8
    .skip 65536
thread_stack: .skip 16
