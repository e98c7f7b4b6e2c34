/** Entries in the order in which they are due; a binary heap, as thousands come and go each second. */
export interface Due {
  /** Milliseconds by whatever clock the caller has. */
  dueAt: number;
}

export interface DueQueue<T extends Due> {
  push(entry: T): void;
  /** The one that is due first. */
  first(): T | undefined;
  /** Takes it out. */
  shift(): T | undefined;
}

export const createDueQueue = <T extends Due>(): DueQueue<T> => {
  const heap: T[] = [];
  const dueAt = (index: number): number => heap[index]?.dueAt ?? Number.POSITIVE_INFINITY;
  const swap = (a: number, b: number): void => {
    const first = heap[a];
    const second = heap[b];
    if (first === undefined || second === undefined) return;
    heap[a] = second;
    heap[b] = first;
  };
  const rise = (from: number): void => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (dueAt(parent) <= dueAt(at)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (): void => {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = dueAt(right) < dueAt(left) ? right : left;
      if (dueAt(at) <= dueAt(child)) return;
      swap(at, child);
      at = child;
    }
  };
  return {
    push: (entry) => rise(heap.push(entry) - 1),
    first: () => heap[0],
    shift: () => {
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
