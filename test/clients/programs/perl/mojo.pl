use strict;
use warnings;
use Mojo::UserAgent;

$| = 1;
my ($url, $file) = @ENV{qw(API_URL FILE)};
my %headers = (Authorization => "Bearer $ENV{API_KEY}");
my $agent = Mojo::UserAgent->new(max_response_size => 0);
$agent->proxy->detect;
$agent->ca($ENV{SSL_CERT_FILE}) if $ENV{SSL_CERT_FILE};

# An error status is an answer like others.
sub checked {
    my $answer = shift->result;
    die $answer->code . ': ' . $answer->body . "\n" if $answer->is_error;
    print $answer->body;
}

my %actions = (
    call => sub { checked($agent->get("$url/things" => \%headers)) },
    stream => sub {
        my $call = $agent->build_tx(GET => "$url/events" => \%headers);
        $call->res->content->unsubscribe('read')->on(read => sub { print $_[1] });
        $agent->start($call);
    },
    upload => sub { checked($agent->post("$url/files" => \%headers => form => { file => { file => $file } })) },
);
$actions{ $ARGV[0] }->();
