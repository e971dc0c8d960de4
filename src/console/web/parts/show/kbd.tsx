/** The key that does the same. Screen readers get it by `aria-keyshortcuts`. */
export function Kbd({ children }: { children: string }) {
  return (
    <span aria-hidden="true" className="inline-flex phone:hidden">
      <kbd className="rounded-[4px] border border-current/30 px-1 font-sans text-caption font-medium">
        {children}
      </kbd>
    </span>
  )
}
