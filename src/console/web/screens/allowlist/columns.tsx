/** The columns of the allowed hosts. */
import { Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { Returned } from '../../keys/messages.ts'
import type { GridColumn } from '../../parts/grid/grid.tsx'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { Sparkline } from '../../parts/show/sparkline.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.allowlist

export type AllowedHost = Returned<'allowlist.list'>['entries'][number]

/** Null until the uses are read, or if the role may not read them. */
export type HostUses = Returned<'allowlist.uses'> | null

export function useHostColumns(manages: boolean, remove: (domain: string) => void, uses: HostUses) {
  return useMemo((): readonly GridColumn<AllowedHost>[] => {
    const columns: GridColumn<AllowedHost>[] = [
      {
        id: 'domain',
        header: words.host,
        width: 'minmax(0, 1fr)',
        isRowHeader: true,
        sortBy: ({ domain }) => domain,
        cell: ({ domain }) => (
          <span className="font-mono text-mono" title={domain}>
            {domain}
          </span>
        ),
      },
      ...usageColumns(uses),
      {
        id: 'by',
        header: words.by,
        width: '200px',
        sortBy: ({ by }) => by ?? '',
        cell: ({ by }) => <span className="text-ink-2">{by ?? words.unknown}</span>,
      },
      {
        id: 'at',
        header: words.added,
        width: '130px',
        sortBy: ({ at }) => at,
        cell: ({ at, seq }) => (
          <span className="text-ink-3" title={seq === null ? undefined : words.link(seq)}>
            <Ago at={at} />
          </span>
        ),
      },
    ]
    if (!manages) return columns
    return [...columns, { id: 'menu', header: '', width: '56px', cell: actionsOf(remove) }]
  }, [manages, remove, uses])
}

/** In 7 days. */
export function countCalls({ domain }: AllowedHost, uses: HostUses): number {
  return uses?.get(domain)?.calls.reduce((sum, count) => sum + count, 0) ?? 0
}

function usageColumns(uses: HostUses): GridColumn<AllowedHost>[] {
  const totalOf = (entry: AllowedHost) => countCalls(entry, uses)
  return [
    {
      id: 'calls',
      header: words.calls,
      width: '150px',
      sortBy: totalOf,
      cell: (entry) => {
        const use = uses?.get(entry.domain)
        if (!use) return <span className="text-ink-3">{uses ? words.noCalls : ''}</span>
        const total = totalOf(entry)
        return (
          <span className="flex items-center gap-2 tabular-nums">
            <Sparkline values={use.calls} label={words.callsOf(entry.domain, total)} />
            <span aria-hidden="true">{total}</span>
          </span>
        )
      },
    },
    {
      id: 'last',
      header: words.lastUsed,
      width: '130px',
      sortBy: ({ domain }) => uses?.get(domain)?.last_used_at ?? '',
      cell: ({ domain }) => {
        const use = uses?.get(domain)
        if (use) return <Ago at={use.last_used_at} />
        return <span className="text-ink-3">{uses ? words.never : ''}</span>
      },
    },
  ]
}

/** The menu of a row. */
export function actionsOf(remove: (domain: string) => void) {
  return ({ domain }: AllowedHost) => (
    <IconMenu
      label={words.menuOf(domain)}
      size="small"
      choices={[
        {
          id: 'remove',
          label: words.remove,
          icon: Trash2,
          isDanger: true,
          act: () => remove(domain),
        },
      ]}
    />
  )
}
