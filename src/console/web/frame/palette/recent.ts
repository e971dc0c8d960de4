/** Places that were open last, the newest first. Kept in memory only, and dropped when the keys lock. */
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { allAreas } from '../navigation.ts'

export type RecentPlace = { href: string; label: string; hint?: string; areaTo: string }

const MOST = 6
/** Search parameters that name the open thing. */
const NAMES = ['key', 'host'] as const

export function useRecentPlaces(): readonly RecentPlace[] {
  const href = useRouterState({ select: ({ location }) => location.href })
  const [places, setPlaces] = useState<readonly RecentPlace[]>([])
  useEffect(() => {
    const place = placeAt(href)
    if (!place) return
    const isSame = (other: RecentPlace) =>
      other.areaTo === place.areaTo && other.label === place.label
    setPlaces((before) => [place, ...before.filter((other) => !isSame(other))].slice(0, MOST + 1))
  }, [href])
  return places.filter((place) => place.href !== href).slice(0, MOST)
}

function placeAt(href: string): RecentPlace | null {
  const { pathname, searchParams } = new URL(href, location.origin)
  const area = allAreas.find(({ to }) => pathname.endsWith(to.slice('/w/$workspaceId'.length)))
  if (!area || !/\/w\/[^/]+\//.test(pathname)) return null
  const { to: areaTo, label } = area
  const name = NAMES.map((each) => searchParams.get(each)).find(Boolean)
  if (!name) return { href, label, areaTo }
  const where = [searchParams.get('project'), searchParams.get('environment')]
  return { href, label: name, areaTo, hint: [label, ...where.filter(Boolean)].join(' · ') }
}
