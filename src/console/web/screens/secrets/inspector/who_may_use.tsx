/** A policy as tags and one sentence. */

import { isReadMethod } from '../../../../../core/policy/operations.ts'
import {
  isDeliverable,
  isHeld,
  listAllowedLocations,
  type Policy,
  readApprover,
} from '../../../../../core/policy/policy.ts'
import { Tag } from '../../../parts/show/tag.tsx'
import { texts } from '../../../texts/index.ts'
import type { Cell } from '../place.ts'
import { listText, pathText } from './policy/fields.ts'

const words = texts.policies

export function WhoMayUse({ cell }: { cell: Cell }) {
  const policy = cell.policy ?? {}
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap gap-1.5">
        {tagsOf(policy).map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </p>
      <p className="text-ink-2">{`${useOf(policy)} ${sightOf(policy)}`}</p>
    </div>
  )
}

function tagsOf(policy: Policy): string[] {
  const { allowed_methods, allowed_domains, allowed_paths, allowed_headers } = policy
  return [
    ...(allowed_methods ?? [words.any.allowed_methods]),
    ...(allowed_domains ?? [words.any.allowed_domains]),
    ...(allowed_paths ?? []).map(pathText),
    ...listAllowedLocations(policy).map((place) => words.places[place]),
    ...(allowed_headers ?? []),
    ...(policy.allowed_operations ?? []),
    ...(policy.sign_templates ?? []),
    ...(policy.read_only ? [words.readOnlyTag] : []),
    ...(isHeld(policy) ? [words.approvalTag] : []),
  ].filter((tag, at, all) => all.indexOf(tag) === at)
}

function useOf(policy: Policy): string {
  const { allowed_domains: hosts, allowed_methods: methods, allowed_paths: paths } = policy
  if (hosts?.length === 0) return words.noHost
  const isNone = [methods, paths, listAllowedLocations(policy)].some((list) => list?.length === 0)
  if (isNone) return words.noCalls
  const readsOnly = policy.read_only === true || (methods?.every(isReadMethod) ?? false)
  return words.sendsTo(hosts ? listText(policy, 'allowed_domains') : words.anyHost, readsOnly)
}

function sightOf(policy: Policy): string {
  const by = readApprover(policy)
  if (by !== null) return words.approvalNeeded[by]
  return isDeliverable(policy) ? words.tokensSee : words.membersSee
}
