package cssame;

/** A failure of the program. */
public final class Failure extends Error {
    private static final long serialVersionUID = 1;

    Failure(String message) {
        super(message, null, false, false);
    }

    /** The program fails with this message unless the condition holds. */
    public static void check(boolean holds, String message) {
        if (!holds) {
            throw new Failure(message);
        }
    }
}
