package cssame;

/** Values of plans and of the program, as texts that are equal where the values are. */
final class Values {
    /** What a thread fails with that does local work beyond a limit. */
    static final String TOO_LONG = "the thread computes too long";

    /** What a thread fails with whose calls are too deep. */
    static final String TOO_DEEP = "the calls are too deep";

    private Values() {}

    /** The text of a value of the program; a double is written as its bits. */
    static String text(Object value) {
        if (value instanceof Double number) {
            return bits(number);
        }
        return value == null ? "0" : value instanceof Handle handle ? Long.toString(handle.number()) : value.toString();
    }

    /** The type of a value of the program, as plans name it. */
    static String type(Object value) {
        if (value instanceof Integer) {
            return "int";
        } else if (value instanceof Long) {
            return "long";
        } else if (value instanceof Boolean) {
            return "bool";
        } else if (value instanceof Double) {
            return "double";
        }
        return value instanceof String ? "string" : "thread";
    }

    /** The text of a planned value: a double may be written with leading zeros or without. */
    static String planned(String type, String text) {
        return type.equals("double") ? bits(number(text)) : text;
    }

    /** A text as messages show it. */
    static String show(String type, String text) {
        return switch (type) {
            case "double" -> Text.of(number(text));
            case "string" -> '"' + text + '"';
            case "thread" -> "thread " + text;
            default -> text;
        };
    }

    private static String bits(double number) {
        return Long.toHexString(Double.doubleToRawLongBits(number));
    }

    private static double number(String text) {
        String digits = text.startsWith("0x") ? text.substring(2) : text;
        return Double.longBitsToDouble(Long.parseUnsignedLong(digits, 16));
    }
}
