/** The screen's address, and the project's data. */
import { getRouteApi, type RegisteredRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Permission } from '../../../../core/grant.ts'
import type { Returned } from '../../keys/messages.ts'
import { useMay } from '../../manages.ts'

export const secretsRoute = getRouteApi('/w/$workspaceId/secrets')

export type Matrix = Returned<'secrets.matrix'>
export type MatrixRow = Matrix['rows'][number]
export type Cell = MatrixRow['cells'][string]

export type Project = { workspaceId: string; projectId: string }
export type SecretsPlace = Project & { environment: string }
/** The props of every sheet. */
export type PaneProps = { place: Project; matrix: Matrix; keys: readonly string[] }
export type SecretsSearch = ReturnType<typeof secretsRoute.useSearch>

/** Commands whose results change with a secret. */
export const CHANGED = [
  'secrets.matrix',
  'secrets.list',
  'versions.list',
  'versions.deleted',
] as const

/** One parameter of the address. Only its own changes render the caller again. */
export function useParameter(name: keyof SecretsSearch): string | undefined {
  const select = (search: SecretsSearch) => search[name]
  return secretsRoute.useSearch<RegisteredRouter, string | undefined, false>({ select })
}

/** Changes the address. Parameters that are undefined are removed from it. */
export function useGo() {
  const navigate = secretsRoute.useNavigate()
  return useCallback(
    (change: { [name in keyof SecretsSearch]?: string | undefined }, replace = false) => {
      const buildNextSearch = (before: SecretsSearch) => {
        const entries = Object.entries({ ...before, ...change })
        return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      }
      void navigate({ search: buildNextSearch, replace })
    },
    [navigate],
  )
}

/** The environment of the address, or the first one. */
export function useEnvironment({ environments }: Matrix): string {
  const environment = useParameter('environment')
  return environments.find((name) => name === environment) ?? environments[0] ?? ''
}

/** Whether the person's role in this workspace allows it; false until the role is known. */
export function useMayHere(permission: Permission): boolean {
  const { workspaceId } = secretsRoute.useParams()
  return useMay(workspaceId, permission) ?? false
}

const DAY_MS = 86_400_000

export function daysSince(moment: string): number {
  return Math.max(0, Math.floor((Date.now() - Date.parse(moment)) / DAY_MS))
}
