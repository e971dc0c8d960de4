/** The list of members, with its filters. */
import { Check, CircleAlert, Users } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { SearchField } from '../../parts/fields/search_field.tsx'
import { DataGrid, type GridColumn } from '../../parts/grid/grid.tsx'
import { Icon } from '../../parts/icon.tsx'
import { EmptyState } from '../../parts/page/empty_state.tsx'
import { FilterChip, FilterChips } from '../../parts/page/filter_chip.tsx'
import { Avatar } from '../../parts/show/avatar.tsx'
import { texts } from '../../texts/index.ts'
import { MemberStatus } from './inspector.tsx'
import { type Comparison, KINDS, type MemberKind, type MemberRow } from './listed.ts'

const words = texts.members

export function MemberName({ member: { email, isOwn } }: { member: MemberRow }) {
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <Avatar name={email} />
      <span className="truncate font-medium">{email}</span>
      {isOwn ? <span className="shrink-0 text-ink-3">{words.you}</span> : null}
    </span>
  )
}

const columns: readonly GridColumn<MemberRow>[] = [
  {
    id: 'email',
    header: words.person,
    width: 'minmax(0, 1fr)',
    isRowHeader: true,
    sortBy: ({ email }) => email,
    cell: (member) => <MemberName member={member} />,
  },
  {
    id: 'role',
    header: words.role,
    width: '120px',
    sortBy: ({ role }) => role,
    cell: ({ role }) => words.roles[role],
  },
  {
    id: 'status',
    header: words.status,
    width: '120px',
    sortBy: ({ status }) => status ?? '',
    cell: (member) => <MemberStatus member={member} />,
  },
  {
    id: 'keys',
    header: words.keys,
    width: '150px',
    sortBy: ({ comparison }) => comparison,
    cell: ({ comparison }) => <Compared comparison={comparison} />,
  },
]

const LOOKS = {
  own: { text: words.compared.own, look: 'text-ink-3', icon: null },
  yes: { text: words.compared.yes, look: 'text-green', icon: Check },
  no: { text: words.compared.no, look: 'text-ink-2', icon: null },
  unusable: { text: words.compared.unusable, look: 'text-red', icon: CircleAlert },
}

function Compared({ comparison }: { comparison: Comparison }) {
  const { text, look, icon } = LOOKS[comparison]
  return (
    <span className={`inline-flex items-center gap-1.5 ${look}`}>
      {icon ? <Icon of={icon} /> : null}
      {text}
    </span>
  )
}

function PhoneRow({ member }: { member: MemberRow }) {
  return (
    <span className="flex items-center gap-3">
      <Avatar name={member.email} size={32} />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{member.email}</span>
        <span className="block text-small text-ink-2">
          {words.roles[member.role]} · {LOOKS[member.comparison].text}
        </span>
      </span>
      <MemberStatus member={member} />
    </span>
  )
}

type Props = {
  rows: readonly MemberRow[]
  isAlone: boolean
  openId: string | undefined
  onOpen(id: string): void
  onClear(): void
}

export function MemberGrid({ rows, isAlone, openId, onOpen, onClear }: Props) {
  const grid = (
    <DataGrid
      label={words.title}
      columns={columns}
      rows={rows}
      idOf={({ userId }) => userId}
      openId={openId}
      onOpen={({ userId }) => onOpen(userId)}
      phone={(member) => <PhoneRow member={member} />}
      empty={
        <EmptyState
          icon={Users}
          title={words.noMatch}
          action={<Button onPress={onClear}>{words.noMatchAction}</Button>}
        />
      }
    />
  )
  if (!isAlone || rows.length === 0) return grid
  return (
    <>
      <div className="flex h-18 shrink-0 flex-col">{grid}</div>
      <EmptyState icon={Users} title={words.alone} command={words.aloneCommand} />
    </>
  )
}

type ToolbarProps = {
  /** Null until they are read. */
  rows: readonly MemberRow[] | null
  find: string
  onFind(text: string): void
  kind: MemberKind
  onKind(kind: MemberKind): void
}

export function MemberToolbar({ rows, find, onFind, kind, onKind }: ToolbarProps) {
  const kinds = Object.keys(KINDS) as MemberKind[]
  return (
    <>
      <SearchField
        label={words.filterLabel}
        placeholder={rows ? words.filter(rows.length) : words.filterLabel}
        value={find}
        onChange={onFind}
        shortcut="/"
      />
      <FilterChips label={words.show}>
        {kinds.map((id) => (
          <FilterChip
            key={id}
            label={words.chips[id]}
            count={rows?.filter(KINDS[id]).length ?? null}
            isSelected={kind === id}
            onPress={() => onKind(id)}
          />
        ))}
      </FilterChips>
    </>
  )
}
