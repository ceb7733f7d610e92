package cssame;

import java.util.Objects;

/** What the language says of values that Java has as objects. */
final class Numbers {
    private Numbers() {}

    /** Whether values are equal: of doubles, zeros are, and what is no number is not. */
    static boolean areEqual(Object left, Object right) {
        if (left instanceof Double first && right instanceof Double second) {
            return first.doubleValue() == second.doubleValue();
        }
        return Objects.equals(left, right);
    }

    /** The sum of two numbers of one type; integers wrap around. */
    @SuppressWarnings("unchecked")
    static <T> T sum(T left, T right) {
        if (left instanceof Integer first && right instanceof Integer second) {
            return (T) Integer.valueOf(first + second);
        } else if (left instanceof Long first && right instanceof Long second) {
            return (T) Long.valueOf(first + second);
        } else if (left instanceof Double first && right instanceof Double second) {
            return (T) Double.valueOf(first + second);
        }
        throw new IllegalArgumentException(left + " and " + right + " cannot be added");
    }
}
