import { type Account, type ApiKeyId, ListFailedRequests, GetUsage } from '@adoption-store/domain';
import { Controller, Get, NotFoundException, Query } from '@nestjs/common';
import { Public, SignedIn } from '../http/decorators.js';
import { fields, wholeNumber } from '../http/forms.js';
import { address, int64, List, oneOf } from '../http/lists.js';
import { type Answer, page } from '../http/pages.js';
import type { UsageRange } from '../http/views.js';

const PAGE_SIZE = 25;

const DEFAULT_RANGE: UsageRange = { name: '30 days', span: 'day', count: 30 };
const RANGES: readonly UsageRange[] = [
  { name: '48 hours', span: 'hour', count: 48 },
  { name: '7 days', span: 'day', count: 7 },
  DEFAULT_RANGE,
  { name: '90 days', span: 'day', count: 90 },
];
const RANGE_NAMES = RANGES.map(({ name }) => name);

/** The pages about usage, limits and how to call the API. */
@Controller()
export class UsageController {
  constructor(
    private readonly getUsage: GetUsage,
    private readonly listFailedRequests: ListFailedRequests,
  ) {}

  @Get('usage')
  async usage(@SignedIn() { id: accountId }: Account, @Query() query: unknown): Promise<Answer> {
    const list = new List('/usage', query, { key: int64, range: oneOf(RANGE_NAMES) });
    const wanted = wantedOf(list);
    const range = RANGES.find(({ name }) => name === wanted.range) ?? DEFAULT_RANGE;
    const usage = await this.getUsage.execute({ accountId, keyId: wanted.key as ApiKeyId | undefined });
    const periods = range.span === 'hour' ? usage.hours : usage.days;
    return page('usage', {
      usage,
      range,
      periods: periods.slice(-range.count),
      tabs: list.tabs('range', RANGE_NAMES, DEFAULT_RANGE.name, 'requests'),
    });
  }

  @Get('refusals')
  async refusals(@SignedIn() { id: accountId }: Account, @Query() query: unknown): Promise<Answer> {
    const filters = { request: String, code: String, key: int64 };
    const { request: requestId, code, key: keyId } = wantedOf(new List('/refusals', query, filters));
    const number = wholeNumber(fields(query, 'page').page, 1, 100) ?? 1;
    const wanted = { requestId, code, keyId: keyId as ApiKeyId | undefined };
    const { failedRequests, all } = await this.listFailedRequests.execute({ accountId, ...wanted });
    const start = (number - 1) * PAGE_SIZE;
    const shown = failedRequests.slice(start, start + PAGE_SIZE);
    const end = start + shown.length;
    const parameters = { request: requestId, code, key: keyId?.toString() };
    const addressOf = (other: number) => address('/refusals', { ...parameters, page: String(other) });
    return page('refusals', {
      failedRequests: shown,
      asked: wanted,
      codes: [...new Set(all.map((each) => each.code))].sort(),
      keys: [...new Map(all.map((each) => [each.keyId, { id: each.keyId, ...each.key }])).values()],
      paging: {
        first: undefined,
        previous: number > 1 ? addressOf(number - 1) : undefined,
        next: end < failedRequests.length ? addressOf(number + 1) : undefined,
        range: shown.length === 0 ? undefined : `${start + 1}–${end} of ${failedRequests.length}`,
      },
    });
  }

  @Get('plan')
  plan(): Answer {
    return page('plan', {});
  }

  @Get('quickstart')
  @Public()
  quickstart(): Answer {
    return page('quickstart', {});
  }
}

/** The filter in the page's address. A wrong one is answered with 404. */
function wantedOf<Wanted>({ wanted }: { readonly wanted: Wanted | undefined }): Wanted {
  if (wanted === undefined) throw new NotFoundException();
  return wanted;
}
