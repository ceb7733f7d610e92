package drive_cssame_fig6;

import cssame.Run;
import org.junit.jupiter.api.Test;

/**
 * The futures of `cssame_fig6.csm`: made by cssame VERSION.
 *
 * <p>A test follows one recorded execution; its plan is `src/test/resources/plans/NAME.plan`.
 */
class FuturesTest {
    /**
     * `n0@21:15` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n0@initial` (line 10: `int n0 = 0, n1 = 0, n2 = 0, n3 = 0;`).
     * `n3@21:30` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n3@initial` (line 10: `int n0 = 0, n1 = 0, n2 = 0, n3 = 0;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 11:1; T5: read n0 at 21:15, read n1 at 21:20, read n2 at 21:25, read n3 at 21:30,
     * print at 22:5; T1: read n0 at 13:5, write n0 at 13:5; T4: read n3 at 19:5, write n3 at 19:5; T2: read n1 at
     * 15:5, write n1 at 15:5; T3: read n2 at 17:5, write n2 at 17:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n0_21_15_from_n0_initial() {
        Run.follow("n0_21_15_from_n0_initial", Program::reset, Program::main, true);
    }

    /**
     * `n0@21:15` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n0@13:5` (line 13: `n0 += 1;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 11:1; T1: read n0 at 13:5, write n0 at 13:5; T5: read n0 at 21:15, read n1 at 21:20,
     * read n2 at 21:25, read n3 at 21:30, print at 22:5; T2: read n1 at 15:5, write n1 at 15:5; T3: read n2 at 17:5,
     * write n2 at 17:5; T4: read n3 at 19:5, write n3 at 19:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n0_21_15_from_n0_13_5() {
        Run.follow("n0_21_15_from_n0_13_5", Program::reset, Program::main, true);
    }

    /**
     * `n1@21:20` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n1@initial` (line 10: `int n0 = 0, n1 = 0, n2 = 0, n3 = 0;`).
     * Other reads of writes of parallel threads: `n0@21:15` from `n0@13:5`, `n2@21:25` from `n2@17:5`.
     *
     * Schedule: main: fork at 11:1; T1: read n0 at 13:5, write n0 at 13:5; T3: read n2 at 17:5, write n2 at 17:5;
     * T5: read n0 at 21:15, read n1 at 21:20, read n2 at 21:25, read n3 at 21:30, print at 22:5; T2: read n1 at
     * 15:5, write n1 at 15:5; T4: read n3 at 19:5, write n3 at 19:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n1_21_20_from_n1_initial() {
        Run.follow("n1_21_20_from_n1_initial", Program::reset, Program::main, true);
    }

    /**
     * `n1@21:20` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n1@15:5` (line 15: `n1 += 1;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 11:1; T2: read n1 at 15:5, write n1 at 15:5; T5: read n0 at 21:15, read n1 at 21:20,
     * read n2 at 21:25, read n3 at 21:30, print at 22:5; T1: read n0 at 13:5, write n0 at 13:5; T4: read n3 at 19:5,
     * write n3 at 19:5; T3: read n2 at 17:5, write n2 at 17:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n1_21_20_from_n1_15_5() {
        Run.follow("n1_21_20_from_n1_15_5", Program::reset, Program::main, true);
    }

    /**
     * `n2@21:25` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n2@initial` (line 10: `int n0 = 0, n1 = 0, n2 = 0, n3 = 0;`).
     * Other reads of writes of parallel threads: `n0@21:15` from `n0@13:5`, `n1@21:20` from `n1@15:5`, `n3@21:30` from `n3@19:5`.
     *
     * Schedule: main: fork at 11:1; T1: read n0 at 13:5, write n0 at 13:5; T2: read n1 at 15:5, write n1 at 15:5;
     * T4: read n3 at 19:5, write n3 at 19:5; T5: read n0 at 21:15, read n1 at 21:20, read n2 at 21:25, read n3 at
     * 21:30, print at 22:5; T3: read n2 at 17:5, write n2 at 17:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n2_21_25_from_n2_initial() {
        Run.follow("n2_21_25_from_n2_initial", Program::reset, Program::main, true);
    }

    /**
     * `n2@21:25` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n2@17:5` (line 17: `n2 += 1;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 11:1; T3: read n2 at 17:5, write n2 at 17:5; T5: read n0 at 21:15, read n1 at 21:20,
     * read n2 at 21:25, read n3 at 21:30, print at 22:5; T1: read n0 at 13:5, write n0 at 13:5; T4: read n3 at 19:5,
     * write n3 at 19:5; T2: read n1 at 15:5, write n1 at 15:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n2_21_25_from_n2_17_5() {
        Run.follow("n2_21_25_from_n2_17_5", Program::reset, Program::main, true);
    }

    /**
     * `n3@21:30` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n3@19:5` (line 19: `n3 += 1;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 11:1; T4: read n3 at 19:5, write n3 at 19:5; T5: read n0 at 21:15, read n1 at 21:20,
     * read n2 at 21:25, read n3 at 21:30, print at 22:5; T1: read n0 at 13:5, write n0 at 13:5; T3: read n2 at 17:5,
     * write n2 at 17:5; T2: read n1 at 15:5, write n1 at 15:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void n3_21_30_from_n3_19_5() {
        Run.follow("n3_21_30_from_n3_19_5", Program::reset, Program::main, true);
    }

    /**
     * The outcome `ok`: T5 prints 4.
     *
     * Schedule: main: fork at 11:1; T1: read n0 at 13:5, write n0 at 13:5; T2: read n1 at 15:5, write n1 at 15:5;
     * T3: read n2 at 17:5, write n2 at 17:5; T4: read n3 at 19:5, write n3 at 19:5; T5: read n0 at 21:15, read n1 at
     * 21:20, read n2 at 21:25, read n3 at 21:30, print at 22:5; main: join at 23:1.
     *
     * It ends well.
     */
    @Test
    void outcome_5() {
        Run.follow("outcome_5", Program::reset, Program::main, true);
    }
}
