/** The parameters of the screen's address: the open member, the invitation sheet and the filter. */
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { NEW } from '../../frame/navigation.ts'

const route = getRouteApi('/w/$workspaceId/members')

type Place = { member?: string; invite?: string; find?: string }

export function useMembersPlace() {
  const { workspaceId } = route.useParams()
  const place = route.useSearch()
  const navigate = route.useNavigate()
  const moves = useMemo(() => {
    const go = (change: { [name in keyof Place]: string | undefined }, replace = false) =>
      void navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace })
    return {
      openMember: (id: string) => go({ member: id }),
      closeMember: () => go({ member: undefined }),
      openInvite: () => go({ invite: NEW }),
      closeInvite: () => go({ invite: undefined }),
      find: (text: string) => go({ find: text }, true),
    }
  }, [navigate])
  return { workspaceId, place, ...moves }
}

function withoutEmpty(place: { [name in keyof Place]: string | undefined }): Place {
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value))
}
