/** One part on the design page: its files, its rule in one line, and the part itself. */
import type { ReactNode } from 'react'
import { Tag } from '../parts/show/tag.tsx'

type Props = {
  /** Files below parts/ that are seen here, without `.tsx`. */
  of: readonly string[]
  rule: string
  /** Over the whole width, for rows and screens. */
  isWide?: boolean
  children: ReactNode
}

export function Specimen({ of, rule, isWide = false, children }: Props) {
  return (
    <div
      data-parts={of.join(' ')}
      className={`flex min-w-0 flex-col gap-3 rounded-card border border-line bg-bg p-4 ${isWide ? 'col-span-full' : ''}`}
    >
      <div className="flex flex-wrap items-center gap-1.5">
        {of.map((name) => (
          <Tag key={name}>{name}</Tag>
        ))}
        <p className="text-small text-ink-2">{rule}</p>
      </div>
      <div className={isWide ? '' : 'flex flex-wrap items-start gap-2'}>{children}</div>
    </div>
  )
}

export function SpecimenGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3">
      <h2 className="text-title font-semibold">{title}</h2>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(360px,100%),1fr))] gap-3">
        {children}
      </div>
    </section>
  )
}
