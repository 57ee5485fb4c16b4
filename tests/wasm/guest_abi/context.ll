; Rule 3: the context does not survive a call. A caller keeps it in its frame, at an address that rbp
; gives, and frames form a chain through rbp.
define preserve_nonecc %results @caller($PARAMETERS) #0 {
  %field = getelementptr i8, ptr %context, i64 8
  %table = load ptr, ptr %field
  %code = load atomic ptr, ptr %table monotonic, align 8
  %given = call preserve_nonecc %results %code(ptr %context, i64 %n0, $POISON_NUMBERS_1,
      <4 x i32> poison, $POISON_VECTORS_1)
  %number = extractvalue %results %given, 0
  %own = load i64, ptr %context
  %sum = add i64 %number, %own
  %result = insertvalue %results poison, i64 %sum, 0
  ret %results %result
}
; expect caller: pushq %rbp
; expect caller: movq %rsp, %rbp
; expect caller: movq %r12, -8(%rbp)
; expect caller: callq *%rax
; expect caller: movq -8(%rbp), %r
; expect caller: popq %rbp
