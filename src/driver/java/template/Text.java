package cssame;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as the program prints them. */
public final class Text {
    private static final int MOST_DIGITS = 17;

    private Text() {}

    /** The shortest number that reads back as this one: {@code 1.0}, {@code 0.1}, {@code 1e300}, {@code inf}. */
    public static String of(double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        } else if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        String sign = Double.doubleToRawLongBits(value) < 0 ? "-" : "";
        double size = Math.abs(value);
        if (size == 0) {
            return sign + "0.0";
        }
        BigDecimal shortest = shortest(size).stripTrailingZeros();
        if (size >= 1e16 || size < 1e-4) {
            String digits = shortest.unscaledValue().toString();
            String more = digits.length() > 1 ? "." + digits.substring(1) : "";
            return sign + digits.charAt(0) + more + "e" + (digits.length() - 1 - shortest.scale());
        }
        return sign + shortest.setScale(Math.max(shortest.scale(), 1)).toPlainString();
    }

    /** Of the numbers with the fewest digits that read back as this one, the nearest; the larger one of two. */
    private static BigDecimal shortest(double size) {
        BigDecimal exact = new BigDecimal(size);
        for (int digits = 1; digits < MOST_DIGITS; digits++) {
            // At a power of two, only the farther of the two neighbours may read back.
            BigDecimal below = exact.round(new MathContext(digits, RoundingMode.DOWN));
            BigDecimal above = exact.round(new MathContext(digits, RoundingMode.UP));
            boolean isBelow = below.doubleValue() == size;
            boolean isAbove = above.doubleValue() == size;
            if (isBelow && isAbove) {
                return exact.round(new MathContext(digits, RoundingMode.HALF_UP));
            } else if (isBelow || isAbove) {
                return isBelow ? below : above;
            }
        }
        return exact.round(new MathContext(MOST_DIGITS, RoundingMode.HALF_UP));
    }
}
