package cssame;

/** What calls have done, for the comparison with the plan. */
final class Effects {
    private Effects() {}

    /** An operation on an object of synchronisation is done. */
    static void operation(String method, Object target, Object result) {
        switch (method) {
            case "lock", "readLock", "writeLock" -> {
                if (target instanceof Lock lock) {
                    Order.held(lock);
                } else {
                    Order.held((RwLock) target);
                }
            }
            case "tryLock", "tryReadLock", "tryWriteLock", "leaveTimed", "tryAcquire" -> Order.finish(result);
            default -> Order.done();
        }
    }

    /** An access to an element or a cell is done; its values begin at that argument. */
    static void access(String method, Object[] arguments, int first, Object result) {
        Order.finish(method.equals("set") ? arguments[first] : result);
    }
}
