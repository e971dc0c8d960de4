/** A part of an inspector, under its own small heading. */
import type { ReactNode } from 'react'

export function InspectorSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-2 text-small font-medium text-ink-3">{title}</h3>
      {children}
    </section>
  )
}
