/**
 * The minimum that a Nest server of this kind does for a request: a bearer guard, the throttler's guard with plans, a
 * scopes guard, class-validator, class-transformer, and concurrent requests that share a query. It has no int64s, pages,
 * ETags, idempotency or metrics. Its tables are in schema.sql. It is compiled at its start.
 */
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Res,
  SetMetadata,
  UnauthorizedException,
} from '@nestjs/common';
import { APP_GUARD, NestFactory, Reflector } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { plainToInstance, Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, Min, MinLength, validateSync } from 'class-validator';
import pg from 'pg';

const STATUSES = ['available', 'pending', 'sold'];

interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

interface Caller {
  readonly perMinute: number;
  readonly perDay: number;
  readonly usage: { minute: number; day: number; minuteUsed: number; dayUsed: number };
}

interface HttpRequest {
  readonly headers: { readonly authorization?: string };
  caller: Caller;
}

interface HttpReply {
  headers(values: Record<string, string>): void;
}

class ListQuery {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  after?: number;
}

class NewPet {
  @IsString()
  @MinLength(1)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
const SELECT = 'SELECT id, name, category_id AS "categoryId", status FROM pets';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const textOf = ({ id, name, categoryId, status }: Pet) =>
  `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;

/** Runs one query at a time. Callers that arrive meanwhile share the next one. */
function batching<Item, Result>(run: (items: Item[]) => Promise<Result[]>): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let isBusy = false;
  const next = async () => {
    const batch = waiting;
    waiting = [];
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    isBusy = waiting.length > 0;
    if (isBusy) setImmediate(() => void next());
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      setImmediate(() => void next());
    });
}

const lists = new Map<string | undefined, (limit: number) => Promise<string>>();
function listOf(status: string | undefined): (limit: number) => Promise<string> {
  const known = lists.get(status);
  if (known !== undefined) return known;
  const list = batching<number, string>(async (limits) => {
    const most = Math.max(...limits);
    const { rows } = await pool.query<Pet>(
      status === undefined
        ? { name: 'list', text: `${SELECT} ORDER BY id LIMIT $1`, values: [most] }
        : { name: 'by-status', text: `${SELECT} WHERE status = $1 ORDER BY id LIMIT $2`, values: [status, most] },
    );
    let all = '[';
    const ends = rows.map((row, index) => (all += (index > 0 ? ',' : '') + textOf(row)).length);
    return limits.map((limit) => `${all.slice(0, ends[Math.min(limit, ends.length) - 1] ?? 1)}]`);
  });
  lists.set(status, list);
  return list;
}

/** Pages that nobody else asks for. */
async function laterPage(status: string | undefined, after: number, limit: number): Promise<string> {
  const { rows } = await pool.query<Pet>(
    status === undefined
      ? { name: 'later', text: `${SELECT} WHERE id > $1 ORDER BY id LIMIT $2`, values: [after, limit] }
      : {
          name: 'later-by-status',
          text: `${SELECT} WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
          values: [status, after, limit],
        },
  );
  return `[${rows.map(textOf).join(',')}]`;
}

const find = batching<number, Pet | undefined>(async (ids) => {
  const { rows } = await pool.query<Pet>({
    name: 'by-ids',
    text: `${SELECT} WHERE id = ANY($1::bigint[])`,
    values: [ids],
  });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
});

const ADD = `WITH given AS MATERIALIZED (
    SELECT ord, nextval(pg_get_serial_sequence('pets', 'id')) AS id, name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::pet_status[]) WITH ORDINALITY AS of (name, category_id, status, ord)
  ), added AS (INSERT INTO pets (id, name, category_id, status) SELECT id, name, category_id, status FROM given)
  SELECT id FROM given ORDER BY ord`;
const add = batching<NewPet, Pet>(async (pets) => {
  const names = pets.map(({ name }) => name);
  const categories = pets.map(({ categoryId }) => categoryId);
  const statuses = pets.map(({ status = 'available' }) => status);
  const { rows } = await pool.query<{ id: number }>({ name: 'add', text: ADD, values: [names, categories, statuses] });
  return pets.map(({ name, categoryId, status = 'available' }, index) => ({
    id: Number(rows[index]?.id),
    name,
    categoryId,
    status,
  }));
});

const KEY = 'SELECT per_minute AS "perMinute", per_day AS "perDay" FROM api_keys WHERE key_hash = $1';
const callers = new Map<string, Caller>();
async function callerOf(token: string): Promise<Caller | undefined> {
  const hash = createHash('sha256').update(token).digest();
  const known = callers.get(hash.toString('hex'));
  if (known !== undefined) return known;
  const { rows } = await pool.query<Caller>({ name: 'key', text: KEY, values: [hash] });
  if (rows[0] === undefined) return undefined;
  const caller = { ...rows[0], usage: { minute: 0, day: 0, minuteUsed: 0, dayUsed: 0 } };
  callers.set(hash.toString('hex'), caller);
  return caller;
}

function count({ usage, perMinute, perDay }: Caller) {
  const [minute, day] = [Math.floor(Date.now() / 60_000), Math.floor(Date.now() / 86_400_000)];
  if (usage.minute !== minute) Object.assign(usage, { minute, minuteUsed: 0 });
  if (usage.day !== day) Object.assign(usage, { day, dayUsed: 0 });
  const [left, leftToday] = [perMinute - ++usage.minuteUsed, perDay - ++usage.dayUsed];
  return leftToday < left
    ? { isAdmitted: leftToday >= 0, limit: perDay, remaining: leftToday, reset: (day + 1) * 86_400 }
    : { isAdmitted: left >= 0, limit: perMinute, remaining: left, reset: (minute + 1) * 60 };
}

@Injectable()
class BearerAuthGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const caller = await callerOf(request.headers.authorization?.slice('Bearer '.length) ?? '');
    if (caller === undefined) throw new UnauthorizedException();
    request.caller = caller;
    return true;
  }
}

@Injectable()
class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    @Inject(Reflector) reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const { isAdmitted, limit, remaining, reset } = count(http.getRequest<HttpRequest>().caller);
    http.getResponse<HttpReply>().headers({
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, remaining)),
      'x-ratelimit-reset': String(reset),
    });
    return isAdmitted;
  }
}

const Scopes = (...scopes: readonly string[]) => SetMetadata('scopes', scopes);

@Injectable()
class ScopesGuard implements CanActivate {
  private readonly scopes = new Map<unknown, readonly string[]>();

  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    const scopes = this.scopes.get(handler) ?? this.reflector.get<readonly string[]>('scopes', handler);
    this.scopes.set(handler, scopes);
    return scopes.every((scope) => scope !== 'none');
  }
}

function valid<Wanted extends object>(type: new () => Wanted, plain: object): Wanted {
  const object = plainToInstance(type, plain);
  if (validateSync(object, { stopAtFirstError: true }).length > 0) throw new BadRequestException();
  return object;
}

@Controller('v1/pets')
class PetsController {
  @Get()
  @Scopes('pets:read')
  async list(@Query() query: object, @Res({ passthrough: true }) reply: HttpReply): Promise<string> {
    const { limit = 20, status, after } = valid(ListQuery, query);
    reply.headers(JSON_TYPE);
    return after === undefined ? listOf(status)(limit) : laterPage(status, after, limit);
  }

  @Get(':id')
  @Scopes('pets:read')
  async get(@Param('id') id: string, @Res({ passthrough: true }) reply: HttpReply): Promise<string> {
    const pet = await find(Number(id));
    if (pet === undefined) throw new NotFoundException();
    reply.headers(JSON_TYPE);
    return textOf(pet);
  }

  @Post()
  @HttpCode(201)
  @Scopes('pets:write')
  async add(@Body() body: object, @Res({ passthrough: true }) reply: HttpReply): Promise<string> {
    const pet = await add(valid(NewPet, body));
    reply.headers(JSON_TYPE);
    return textOf(pet);
  }
}

@Module({
  imports: [ThrottlerModule.forRoot({ throttlers: [{ name: 'plan', ttl: 60_000, limit: 0 }] })],
  controllers: [PetsController],
  providers: [BearerAuthGuard, PlanThrottlerGuard, ScopesGuard].map((useClass) => ({ provide: APP_GUARD, useClass })),
})
class PeerModule {}

const app = await NestFactory.create(PeerModule, new FastifyAdapter(), { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(`Address  ${await app.getUrl()}/v1`);
process.on('SIGTERM', () => process.exit(0));
