; Rule 6: arithmetic that must quieten a NaN is not folded away in its constrained form; the plain
; form is.
declare double @llvm.experimental.constrained.fmul.f64(double, double, metadata, metadata)
define preserve_nonecc %results @constrained($PARAMETERS) #1 {
  %x = bitcast i64 %n0 to double
  %y = call double @llvm.experimental.constrained.fmul.f64(double %x, double 1.0,
      metadata !"round.tonearest", metadata !"fpexcept.maytrap") #2
  %bits = bitcast double %y to i64
  %result = insertvalue %results poison, i64 %bits, 0
  ret %results %result
}
; expect constrained: mulsd .LCPI

define double @plain(double %x) {
  %y = fmul double %x, 1.0
  ret double %y
}
; forbid plain: mulsd

attributes #1 = { strictfp "frame-pointer"="all" }
attributes #2 = { strictfp }
