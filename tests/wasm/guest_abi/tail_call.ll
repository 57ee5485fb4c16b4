; Rule 2: with one prototype a tail call to any function is a jump, through a slot of the code table
; too; what is not used is poison and costs nothing.
define preserve_nonecc %results @through_slot($PARAMETERS) {
  %field = getelementptr i8, ptr %context, i64 8
  %table = load ptr, ptr %field
  %slot = getelementptr ptr, ptr %table, i64 5
  %code = load atomic ptr, ptr %slot monotonic, align 8
  %next = add i64 %n0, 1
  %given = musttail call preserve_nonecc %results %code(ptr %context, i64 %next, $POISON_NUMBERS_1,
      <4 x i32> %v0, $POISON_VECTORS_1)
  ret %results %given
}
; expect through_slot: movq 8(%r12), %rax
; expect through_slot: incq %r13
; expect through_slot: jmpq *%r
; forbid through_slot: call
; forbid through_slot: push
