// Functions of plain numbers, without a library: what `--invoke` calls.
#define EXPORT(name) __attribute__((export_name(#name))) name

int EXPORT(add)(int a, int b) { return a + b; }
long long EXPORT(add_long)(long long a, long long b) { return a + b; }
float EXPORT(half_float)(float a) { return a / 2; }
double EXPORT(half)(double a) { return a / 2; }
void EXPORT(crash)(void) { __builtin_trap(); }
int EXPORT(divide)(int a, int b) { return a / b; }
int EXPORT(deep)(int depth) { return depth != 0 ? deep(depth - 1) * 3 + depth : 0; }
int EXPORT(grow)(int pages) { return (int)__builtin_wasm_memory_grow(0, (unsigned)pages); }
