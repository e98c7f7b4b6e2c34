/**
 * Entries in the order in which they are due, and of one moment in their `order`. A binary heap, as thousands come and go
 * each second.
 */
export const createDueQueue = <T extends { dueAt: number; order?: number }>() => {
  const heap: T[] = [];
  const isBefore = (a: number, b: number): boolean => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return one !== undefined;
    return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && (one.order ?? 0) < (other.order ?? 0));
  };
  const swap = (a: number, b: number): void => {
    const [first, second] = [heap[a], heap[b]];
    if (first !== undefined && second !== undefined) [heap[a], heap[b]] = [second, first];
  };
  const rise = (from: number): void => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isBefore(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (): void => {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = isBefore(right, left) ? right : left;
      if (!isBefore(child, at)) return;
      swap(at, child);
      at = child;
    }
  };
  return {
    push: (entry: T): void => rise(heap.push(entry) - 1),
    first: (): T | undefined => heap[0],
    shift: (): T | undefined => {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length > 0 && last !== undefined) {
        heap[0] = last;
        sink();
      }
      return first;
    },
  };
};
