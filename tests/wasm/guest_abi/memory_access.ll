; Rule 5: a guest access is one instruction on base and index, the index extended at the access. As
; volatile in its own address space it is neither merged, moved past another one, nor dropped where
; its value is not used: it may trap.
define preserve_nonecc %results @accesses($PARAMETERS) #0 {
  %field = getelementptr i8, ptr %context, i64 16
  %base = load ptr addrspace(1), ptr %field
  %index = and i64 %n0, 4294967295
  %at = getelementptr i8, ptr addrspace(1) %base, i64 %index
  %further = getelementptr i8, ptr addrspace(1) %at, i64 8
  %first = load volatile i32, ptr addrspace(1) %further, align 1
  %again = load volatile i32, ptr addrspace(1) %further, align 1
  store volatile i32 7, ptr addrspace(1) %at, align 1
  %unused = load volatile i32, ptr addrspace(1) %at, align 1
  %sum = add i32 %first, %again
  %wide = zext i32 %sum to i64
  %result = insertvalue %results poison, i64 %wide, 0
  ret %results %result
}
; expect accesses: movq 16(%r12), %rcx
; expect accesses: movl %r13d, %edx
; expect accesses: movl 8(%rcx,%rdx), %eax
; expect accesses: addl 8(%rcx,%rdx), %eax
; expect accesses: movl $7, (%rcx,%rdx)
; expect accesses: movl (%rcx,%rdx), %ecx

define preserve_nonecc %results @exchange($PARAMETERS) #0 {
  %field = getelementptr i8, ptr %context, i64 16
  %base = load ptr addrspace(1), ptr %field
  %index = and i64 %n0, 4294967295
  %at = getelementptr i8, ptr addrspace(1) %base, i64 %index
  %pair = cmpxchg volatile ptr addrspace(1) %at, i64 %n1, i64 %n2 seq_cst seq_cst
  %old = extractvalue { i64, i1 } %pair, 0
  %result = insertvalue %results poison, i64 %old, 0
  ret %results %result
}
; expect exchange: lock cmpxchgq %r15, (%rcx,%rdx)
