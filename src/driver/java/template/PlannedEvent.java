package cssame;

/**
 * An event of a plan.
 *
 * @param thread the number of the thread that does it
 * @param kind what happens: {@code read}, {@code lock}, {@code print}, ...
 * @param place where it happens: {@code a@6:24}, {@code lock L@5:3}, {@code cells@7:9[3]}
 * @param type the type of its value, empty if it has none
 * @param value its value in the form that {@link Values} writes
 * @param extra a second value: the handle of a spawned thread; empty if there is none
 * @param turn its number among the events that have turns, or -1 if it has none
 */
record PlannedEvent(int thread, String kind, String place, String type, String value, String extra, int turn) {
    boolean isTimed() {
        return turn >= 0;
    }

    boolean isAccess() {
        return is("read") || is("write") || is("update");
    }

    boolean is(String other) {
        return kind.equals(other);
    }

    /** Whether the thread passes a limit of the recorded execution here. */
    boolean isEndless() {
        return is("fail") && (value.equals(Values.TOO_LONG) || value.equals(Values.TOO_DEEP));
    }

    /** The event as a line of a schedule. */
    String line() {
        return switch (kind) {
            case "read", "write", "update" -> kind + " " + place + " = " + Values.show(type, value);
            case "print" -> "print " + value;
            default -> place;
        };
    }

    /** The event as messages call it. */
    String describe() {
        return switch (kind) {
            case "read", "write", "update" -> "the " + kind + " of " + place;
            case "print" -> "the print of `" + value + "`";
            case "fail" -> "the failure `" + value + "`";
            case "choose" -> "the choice of " + value;
            case "fork", "spawn", "join" -> "the " + kind + " at " + place;
            case "end" -> "its end";
            case "enter" -> "the beginning of " + place;
            case "woken" -> "the wake-up at " + place;
            case "timed-out" -> "the time-out at " + place;
            case "arrive" -> "the arrival at " + place;
            case "leave" -> "the departure from " + place;
            default -> place;
        };
    }
}
