/** The use of a secret, and the display name of a member. */
import { useAsk } from '../../../queries.ts'
import { useUsage } from '../../../usage.ts'
import type { SecretsPlace } from '../place.ts'

export type OfSecret = SecretsPlace & { key: string }

/** Undefined until it is known. Lists have a number for each of `days`, oldest first. */
export function useSecretUse({ workspaceId, projectId, environment, key }: OfSecret) {
  const data = useUsage(workspaceId)
  if (!data) return undefined
  const found = data.secrets.find(
    (use) =>
      use.credential_ref === key && use.project_id === projectId && use.environment === environment,
  )
  const none = data.days.map(() => 0)
  return {
    days: data.days,
    calls: found?.calls ?? none,
    refused: found?.blocked ?? none,
    lastAt: found?.last_used_at ?? null,
    lastBy: found?.last_used_by ?? null,
  }
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** A member's name for an e-mail address, or the part before the @. */
export function useNameOf(workspaceId: string) {
  const { data } = useAsk('members.list', { workspaceId })
  return (email: string) =>
    data?.members.find((member) => member.email === email)?.name || email.replace(/@.*/, '')
}
