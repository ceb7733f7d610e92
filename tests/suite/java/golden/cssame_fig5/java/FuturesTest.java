package drive_cssame_fig5;

import cssame.Run;
import org.junit.jupiter.api.Test;

/**
 * The futures of `cssame_fig5.csm`: made by cssame VERSION.
 *
 * <p>A test follows one recorded execution; its plan is `src/test/resources/plans/NAME.plan`.
 */
class FuturesTest {
    /**
     * `n@25:23` (line 25: `int result = 21 / n;`) reads from `n@15:5` (line 15: `n = 0;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T2: lock L at 18:5, write n at 19:5, unlock L at 20:5, barrier barrier(2) at
     * 21:5; T1: lock L at 14:5, write n at 15:5, unlock L at 16:5; T3: barrier barrier(2) at 23:5, lock L at 24:5,
     * read n at 25:23, divide at 25:18.
     *
     * The program fails: division by zero at line 25.
     */
    @Test
    void n_25_23_from_n_15_5() {
        Run.follow("n_25_23_from_n_15_5", Program::reset, Program::main, true);
    }

    /**
     * `n@25:23` (line 25: `int result = 21 / n;`) reads from `n@19:5` (line 19: `n = 3;`).
     * No other pi function takes the write of a parallel thread.
     *
     * Schedule: main: fork at 12:1; T2: lock L at 18:5, write n at 19:5, unlock L at 20:5, barrier barrier(2) at
     * 21:5; T3: barrier barrier(2) at 23:5, lock L at 24:5, read n at 25:23, print at 26:5; T1: lock L at 14:5,
     * write n at 15:5, unlock L at 16:5; main: join at 28:1.
     *
     * It ends well.
     */
    @Test
    void n_25_23_from_n_19_5() {
        Run.follow("n_25_23_from_n_19_5", Program::reset, Program::main, true);
    }
}
