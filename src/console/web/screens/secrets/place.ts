/** Where the screen looks: its address, and what was read of the project. */
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Permission } from '../../../../core/grant.ts'
import { useMay } from '../../frame/manages.ts'
import type { Returned } from '../../keys/messages.ts'

export const secretsRoute = getRouteApi('/w/$workspaceId/secrets')

export type Matrix = Returned<'secrets.matrix'>
export type MatrixRow = Matrix['rows'][number]
export type Cell = MatrixRow['cells'][string]

export type Project = { workspaceId: string; projectId: string }
/** The props of every pane beside the matrix. */
export type PaneProps = { place: Project; matrix: Matrix; keys: readonly string[] }
export type SecretsSearch = ReturnType<typeof secretsRoute.useSearch>

/** What changes when secrets do. */
export const CHANGED = [
  'secrets.matrix',
  'secrets.list',
  'versions.list',
  'versions.deleted',
] as const

/** Changes the address; what is undefined is left out of it. */
export function useGo() {
  const navigate = secretsRoute.useNavigate()
  return useCallback(
    (change: { [name in keyof SecretsSearch]?: string | undefined }, replace = false) => {
      const next = (before: SecretsSearch) => {
        const entries = Object.entries({ ...before, ...change })
        return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      }
      void navigate({ search: next, replace })
    },
    [navigate],
  )
}

/** Whether the person's role in this workspace lets them; not before it is known. */
export function useMayHere(permission: Permission): boolean {
  const { workspaceId } = secretsRoute.useParams()
  return useMay(workspaceId, permission) ?? false
}

const DAY_MS = 86_400_000
const OLD_DAYS = 90

export function daysSince(moment: string): number {
  return Math.max(0, Math.floor((Date.now() - Date.parse(moment)) / DAY_MS))
}

export function isOld({ updatedAt }: Cell): boolean {
  return daysSince(updatedAt) >= OLD_DAYS
}

/** Letters for values that are the same; what comes after Z is counted. */
export function letterOf(value: number): string {
  return value < 26 ? String.fromCharCode(65 + value) : String(value + 1)
}

export const shows = {
  all: () => true,
  missing: ({ cells }: MatrixRow, all: number) => Object.keys(cells).length < all,
  differing: ({ cells }: MatrixRow) => valuesOf(cells).size > 1,
  same: ({ cells }: MatrixRow, all: number) =>
    valuesOf(cells).size === 1 && Object.keys(cells).length === all,
  old: ({ cells }: MatrixRow) => Object.values(cells).some(isOld),
  unreadable: ({ cells }: MatrixRow) => valuesOf(cells).has(null),
}
export type Show = keyof typeof shows

function valuesOf(cells: MatrixRow['cells']): Set<number | null> {
  return new Set(Object.values(cells).map(({ value }) => value))
}
