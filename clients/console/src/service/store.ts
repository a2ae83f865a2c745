import { useSyncExternalStore } from "react";

/** A value that the whole console shares. */
export interface Shared<T> {
  get(): T;
  set(next: T): void;
  use(): T;
}

/** Makes one. */
export function shared<T>(first: T): Shared<T> {
  let current = first;
  const listeners = new Set<() => void>();
  const get = (): T => current;
  const listen = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(next) {
      current = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(listen, get),
  };
}
