package cssame;

import java.util.StringJoiner;

/** What the program prints. */
public final class Output {
    private Output() {}

    /** Prints a line of this thread: the parts, joined by spaces. */
    public static void print(Object... parts) {
        StringJoiner joined = new StringJoiner(" ");
        for (Object part : parts) {
            joined.add(part == null ? "thread 0" : part instanceof Double number ? Text.of(number) : part.toString());
        }
        String line = joined.toString();
        ProgramThread thread = ProgramThread.following();
        if (thread == null) {
            System.out.println(Thread.currentThread().getName() + ": " + line);
            return;
        }
        PlannedEvent event = thread.expect("print", "print of `" + line + "`");
        if (!event.value().equals(line)) {
            throw thread.depart("prints `" + line + "`, but " + event.describe() + " is planned");
        }
        thread.output.add(line);
        thread.pass();
    }
}
