/** The columns of the allowed hosts. */
import { Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import type { Returned } from '../../keys/messages.ts'
import type { GridColumn } from '../../parts/grid/grid.tsx'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.allowlist

export type HostEntry = Returned<'allowlist.list'>['entries'][number]

export function useHostColumns(manages: boolean, remove: (domain: string) => void) {
  return useMemo((): readonly GridColumn<HostEntry>[] => {
    const columns: GridColumn<HostEntry>[] = [
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
      {
        id: 'by',
        header: words.by,
        width: '220px',
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
  }, [manages, remove])
}

/** The menu of a row. */
export function actionsOf(remove: (domain: string) => void) {
  return ({ domain }: HostEntry) => (
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
