; Rule 4: the stack limit is one comparison at entry, and the size of each frame is told, so that the
; reserve can be checked when the code is made.
declare i64 @llvm.read_register.i64(metadata)
define preserve_nonecc %results @entry($PARAMETERS) #0 {
  %store = load ptr, ptr %context
  %pointer = call i64 @llvm.read_register.i64(metadata !0)
  %limit = load volatile i64, ptr %store
  %is_low = icmp ult i64 %pointer, %limit
  br i1 %is_low, label %overflow, label %body, !prof !1
overflow:
  call void asm sideeffect "ud2", ""()
  unreachable
body:
  %result = insertvalue %results poison, i64 %n0, 0
  ret %results %result
}
!0 = !{!"rsp"}
!1 = !{!"branch_weights", i32 1, i32 1000000}
; expect entry: movq (%r12), %r
; expect entry: cmpq (%r
; expect entry: jb .L
; expect entry: retq
; expect entry: ud2
; expect: .section .stack_sizes
