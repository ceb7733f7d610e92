package drive_cssame_fig6;

import cssame.*;

/** `cssame_fig6.csm` in Java: made by cssame VERSION. */
public final class Program {
    static volatile int n0;
    static volatile int n1;
    static volatile int n2;
    static volatile int n3;

    private Program() {}

    /** Gives all variables their first values. */
    public static void reset() {
        n0 = 0;
        n1 = 0;
        n2 = 0;
        n3 = 0;
    }

    /** The main thread, line 10. */
    public static void main() {
        // 11: cobegin
        Threads.fork("T1", () -> T1());
        Threads.fork("T2", () -> T2());
        Threads.fork("T3", () -> T3());
        Threads.fork("T4", () -> T4());
        Threads.fork("T5", () -> T5());
        // 23: coend
        Threads.join();
    }

    /** Thread `T1`, line 12. */
    static void T1() {
        // 13: n0 += 1;
        int n01 = n0;
        int n02 = n01 + 1;
        n0 = n02;
    }

    /** Thread `T2`, line 14. */
    static void T2() {
        // 15: n1 += 1;
        int n11 = n1;
        int n12 = n11 + 1;
        n1 = n12;
    }

    /** Thread `T3`, line 16. */
    static void T3() {
        // 17: n2 += 1;
        int n21 = n2;
        int n22 = n21 + 1;
        n2 = n22;
    }

    /** Thread `T4`, line 18. */
    static void T4() {
        // 19: n3 += 1;
        int n31 = n3;
        int n32 = n31 + 1;
        n3 = n32;
    }

    /** Thread `T5`, line 20. */
    static void T5() {
        // 21: int sum = n0 + n1 + n2 + n3;
        int n01 = n0;
        int n11 = n1;
        int n21 = n2;
        int n31 = n3;
        int sum = ((n01 + n11) + n21) + n31;
        // 22: print(sum);
        Output.print(sum);
    }
}
