; Rule 7: an `invoke` gives a table of (call, handler); at the handler only rbp counts: what is still
; needed is read from the frame, the context included.
declare i32 @personality(...)
declare preserve_nonecc %results @callee($TYPES)
define preserve_nonecc %results @catcher($PARAMETERS) #0 personality ptr @personality {
  %given = invoke preserve_nonecc %results @callee(ptr %context, i64 %n0, $POISON_NUMBERS_1,
      <4 x i32> poison, $POISON_VECTORS_1) to label %normal unwind label %caught
normal:
  ret %results %given
caught:
  %pad = landingpad { ptr, i32 } catch ptr null
  %own = load i64, ptr %context
  %sum = add i64 %own, %n1
  %result = insertvalue %results poison, i64 %sum, 0
  ret %results %result
}
; expect catcher: movq %r14, -16(%rbp)
; expect catcher: movq %r12, -8(%rbp)
; expect catcher: callq callee
; expect catcher: movq -16(%rbp), %rax
; expect catcher: movq -8(%rbp), %rcx
; expect catcher: addq (%rcx), %rax
; expect: .section .gcc_except_table
; expect: Call Site 1
