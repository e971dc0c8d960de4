/** Texts of the parts that every screen is made of. */
export const partTexts = {
  details: 'Details',
  more: 'More actions',
  clearNamed: (label: string) => `Clear ${label}`,
  removeNamed: (name: string) => `Remove ${name}`,
  choose: 'Choose…',
  openNamed: (label: string) => `Show options for ${label}`,
  noOptions: 'No matches',
  added: 'Added',
  removed: 'Removed',
  today: 'Today',
  dayText: (day: string, figures: readonly string[]) => `${day}: ${figures.join(', ')}`,
  figure: (label: string, count: string) => `${label} ${count}`,
  brushHelp: 'Arrow keys move, Shift extends, Enter filters.',
  code: 'Code',
  requestId: 'Request ID',
  ago: {
    now: 'just now',
    short: {
      now: 'now',
      minute: (count: number) => `${count} min`,
      hour: (count: number) => `${count} h`,
      day: (count: number) => `${count} d`,
    },
  },
  todayOn: (day: string) => `Today, ${day}`,
  yesterdayOn: (day: string) => `Yesterday, ${day}`,
}
