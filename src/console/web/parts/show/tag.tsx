/** A name as machines write it: a secret, a host, a path, a method. */
export function Tag({ children }: { children: string }) {
  return (
    <span
      title={children}
      className="inline-block h-5 max-w-full truncate rounded-tag bg-surface-2 px-1.5 align-middle font-mono text-[11.5px] leading-5 text-ink-2"
    >
      {children}
    </span>
  )
}
