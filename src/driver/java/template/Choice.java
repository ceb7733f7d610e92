package cssame;

import java.util.concurrent.ThreadLocalRandom;

/** Choices of the program. */
public final class Choice {
    private Choice() {}

    /** The planned value, any one of the range where nothing is planned. */
    public static int between(int low, int high) {
        ProgramThread thread = ProgramThread.following();
        if (thread == null) {
            Failure.assume(low <= high);
            return (int) ThreadLocalRandom.current().nextLong(low, high + 1L);
        }
        PlannedEvent event = thread.expect("choose", "choice between " + low + " and " + high);
        int value = Integer.parseInt(event.value());
        if (value < low || value > high) {
            String range = low + " and " + high;
            throw thread.depart("chooses between " + range + ", but " + event.describe() + " is planned");
        }
        thread.pass();
        return value;
    }
}
