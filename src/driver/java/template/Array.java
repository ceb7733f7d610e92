package cssame;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.Supplier;

/** A shared array, or a part of one. */
public final class Array<T> {
    private final AtomicReferenceArray<T> elements;
    private final int first;
    private final int length;

    /** An array of that many elements, all with one value. */
    public Array(int length, T initial) {
        this(new AtomicReferenceArray<>(length), 0, length);
        for (int i = 0; i < length; i++) {
            elements.set(i, initial);
        }
    }

    private Array(AtomicReferenceArray<T> elements, int first, int length) {
        this.elements = elements;
        this.first = first;
        this.length = length;
    }

    /** An array of these elements. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Array<T> of(T... values) {
        return new Array<>(new AtomicReferenceArray<>(values), 0, values.length);
    }

    /** An array that begins with these elements; all behind them have one value. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Array<T> begun(int length, T rest, T... first) {
        Array<T> array = new Array<>(length, rest);
        for (int i = 0; i < first.length; i++) {
            array.set(i, first[i]);
        }
        return array;
    }

    /** The same, with the first elements as texts, in which spaces stand between them. */
    public static <T> Array<T> read(int length, T rest, Function<String, T> value, String... first) {
        Array<T> array = new Array<>(length, rest);
        int i = 0;
        for (String text : first) {
            for (String word : text.split(" ")) {
                array.set(i, value.apply(word));
                i++;
            }
        }
        return array;
    }

    /** A part of this array: both are the same elements. */
    public Array<T> row(int from, int count) {
        if (from < 0 || count < 0 || count > length - from) {
            throw new IndexOutOfBoundsException("elements from " + from + ", " + count + " of " + length);
        }
        return new Array<>(elements, first + from, count);
    }

    /** An array of Java with a new object in each place. */
    public static <T> T[] fill(T[] array, Supplier<T> made) {
        Arrays.setAll(array, i -> made.get());
        return array;
    }

    /** How many elements it has. */
    public int length() {
        return length;
    }

    /** An element. */
    public T get(int i) {
        return elements.get(at(i));
    }

    /** Gives an element a value. */
    public void set(int i, T value) {
        elements.set(at(i), value);
    }

    /** Gives an element the new value if it has the old one; whether it had. */
    public boolean compareAndSet(int i, T old, T value) {
        T present = get(i);
        while (Numbers.areEqual(present, old)) {
            // Equal values may be different objects: the exchange compares objects.
            if (elements.compareAndSet(at(i), present, value)) {
                return true;
            }
            present = get(i);
        }
        return false;
    }

    /** Gives an element a value; the value before. */
    public T swap(int i, T value) {
        return elements.getAndSet(at(i), value);
    }

    /** Adds to an element; the value before. */
    public T fetchAdd(int i, T more) {
        return elements.getAndUpdate(at(i), present -> Numbers.sum(present, more));
    }

    private int at(int i) {
        if (i < 0 || i >= length) {
            throw new IndexOutOfBoundsException("element " + i + " of " + length);
        }
        return first + i;
    }
}
