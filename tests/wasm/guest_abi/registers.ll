; Rule 1: the prototype. The context arrives in r12, numbers and references in r13, r14, r15, rdi,
; rsi, rdx, rcx, r8, floats and vectors in xmm0 to xmm7; results leave in rax and xmm0. Nothing of
; it touches the stack, and no register but rbp is kept.
define preserve_nonecc %results @registers($PARAMETERS) #0 {
  store volatile i64 %n0, ptr %context
  store volatile i64 %n1, ptr %context
  store volatile i64 %n2, ptr %context
  store volatile i64 %n3, ptr %context
  store volatile i64 %n4, ptr %context
  store volatile i64 %n5, ptr %context
  store volatile i64 %n6, ptr %context
  store volatile i64 %n7, ptr %context
  store volatile <4 x i32> %v0, ptr %context
  store volatile <4 x i32> %v7, ptr %context
  %number = insertvalue %results poison, i64 %n1, 0
  %both = insertvalue %results %number, <4 x i32> %v3, 1
  ret %results %both
}
; expect registers: movq %r14, %rax
; expect registers: movq %r13, (%r12)
; expect registers: movq %r14, (%r12)
; expect registers: movq %r15, (%r12)
; expect registers: movq %rdi, (%r12)
; expect registers: movq %rsi, (%r12)
; expect registers: movq %rdx, (%r12)
; expect registers: movq %rcx, (%r12)
; expect registers: movq %r8, (%r12)
; expect registers: movaps %xmm0, (%r12)
; expect registers: movaps %xmm7, (%r12)
; expect registers: movaps %xmm3, %xmm0
; expect registers: retq
; forbid registers: (%rsp)
