/** Members see what agents propose and close it. */
import { Fault } from '../../core/fault.ts'
import { listRoute, type Route, route } from '../../http/route.ts'
import { closeProposal, listProposals } from './contract.ts'
import { selectProposals, storeClosing } from './queries.ts'

export { ownProposalRoutes } from './own.ts'

export function proposalRoutes(): Route[] {
  return [
    listRoute(listProposals, ({ tx, grant, query: { status } }) => ({
      name: `proposals ${status ?? ''}`,
      read: (page) => selectProposals(tx, grant, { ...page, status }),
      sortKey: ({ created_at, id }) => [created_at.toISOString(), id],
    })),
    route(closeProposal, async ({ tx, grant, params: { proposal_id: id }, body, audit }) => {
      const found = await storeClosing(tx, grant, id, body.status)
      if (!found) throw new Fault('not_found')
      const { isChanged, status, agent, registrationId } = found
      if (isChanged) {
        const resource = { type: 'proposal', id, name: agent }
        const about = registrationId === null ? {} : { registrationId }
        audit.record({ action: 'proposal.closed', resource, ...about })
      } else if (status === body.status) {
        audit.unchanged()
      } else {
        throw new Fault('conflict', { message: `The proposal is already ${status}.` })
      }
      return undefined
    }),
  ]
}
